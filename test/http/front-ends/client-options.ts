/** What a real client of a front end is opened with, whichever it is. */
export interface FrontEndOptions<Message> {
  url: string;
  token: string;
  threadId: string;
  messages?: Message[];
  /** The page's tools. One that throws has its error told. */
  tools?: Record<string, (input: unknown) => unknown>;
  /** In place of the network. */
  fetch?: typeof fetch;
}
