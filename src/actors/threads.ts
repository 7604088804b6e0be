import type { Api, Catalog, Message, Speaker } from "../domain/message.ts";
import type { HistoryPage, ThreadRecord } from "../store.ts";
import type { Reply } from "./reply.ts";

export interface Said {
  uid: string;
  slug: string;
  api: Api;
  userId: string;
  speaker: Speaker;
  text: string;
  /** W3C trace context of the request, or null. */
  traceparent: string | null;
}

export interface Answered {
  uid: string;
  slug: string;
  callId: string;
  tool: string;
  /** The result's text, cut to 4,000 characters. */
  text: string;
  isError: boolean;
  /** Where the visitor is now; null: as before. */
  page: string | null;
  traceparent: string | null;
}

/** The threads of this instance: what HTTP asks of them. */
export interface Threads {
  /**
   * Budget for the tail that `load` reads, in characters: callers that load early pass what they got as `loading`.
   */
  load(uid: string): Promise<ThreadRecord | null>;
  /** Resolves when the message is stored. Refusal("rate-limited") where too many wait already. */
  say(said: Said, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** Resolves when the result is stored. Refusal("conflict") where it answers no pending call. */
  answer(answered: Answered, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** The active or last run's stream again; null where the thread has had none. */
  follow(uid: string, loading?: Promise<ThreadRecord | null>): Promise<Reply | null>;
  /** Stops the active run or pending call, wherever it is; also fine where there is none. */
  cancel(uid: string): Promise<void>;
  setCatalog(uid: string, slug: string, catalog: Catalog): Promise<void>;
  history(uid: string, page: HistoryPage): Promise<Message[]>;
}
