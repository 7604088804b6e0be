import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";

/** One request and what came of it, as its client knows it. */
export interface Exchange {
  nth: number;
  client: string;
  /** The process that was asked. */
  instance: string;
  about: About;
  sentAtMs: number;
  /** null: no answer, or none yet; the request may have been carried out. */
  status: number | null;
  heardAtMs: number | null;
  /** The run that the stream says it tells of. */
  runId: string | null;
  body: string;
  lines: Line[];
  /** The stream broke off, or the client left, before its terminal line. */
  isCut: boolean;
  closedAtMs: number | null;
}

/** What a request asks for, in the words of the checker. */
export type About =
  /** `id`: the clientMessageId; null: none. */
  /** `replaces`: the item in whose place it stands; absent: none. */
  | { type: "say"; uid: string; text: string; id: string | null; replaces?: string }
  /** Another reply is wanted. `id`: as of a message. */
  | { type: "again"; uid: string; messageId: string; id: string }
  /** The service has its model speak. */
  | { type: "instruct"; uid: string; instruction: string; id: string }
  | { type: "approve"; uid: string; callId: string; approved: boolean }
  | { type: "answer"; uid: string; callId: string; tool: string; text: string; isWrong: boolean }
  /** `runId`: the run that is named; null: none. */
  | { type: "follow"; uid: string; runId: string | null }
  | { type: "cancel"; uid: string }
  /** `catalog`: as JSON. */
  | { type: "catalog"; uid: string; catalog: string }
  | { type: "history"; uid: string; limit: number }
  | { type: "identify"; token: string; externalId: string }
  | { type: "ask"; uid: string }
  | { type: "stop waiting"; uid: string }
  /** What an operator does. */
  | { type: "take"; uid: string; name: string; epoch: number }
  | { type: "write"; uid: string; name: string; epoch: number; text: string }
  | { type: "give back"; uid: string; name: string; epoch: number }
  /** By the visitor or an operator; of a user: as what it was identified. */
  | { type: "delete"; uid: string }
  | { type: "delete user"; userId: string; externalId: string }
  | { type: "mint" }
  | { type: "thread"; token: string };

/** The line that ended the stream; null where none did. */
export function terminalOf({ lines }: Exchange): Line | null {
  const last = lines.at(-1);
  return last && isTerminal(last) ? last : null;
}

export function isStream({ about }: Exchange): boolean {
  return ["say", "again", "answer", "follow"].includes(about.type);
}
