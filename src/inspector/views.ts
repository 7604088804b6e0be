import type { Line } from "../../machines/line.ts";
import type { Message, RunMove } from "../domain/message.ts";
import type { RunSummary } from "../store.ts";

/** What the inspector's page gets: plain data, redacted before it leaves. */
export interface ChannelView {
  slug: string;
  kind: string;
}

export interface UserView {
  userId: string;
  externalUserId: string | null;
  displayName: string | null;
}

export interface ThreadEntryView {
  id: string;
  threadId: string;
  createdAt: number;
}

/** A run that is active or over. */
export interface RunView {
  runId: string;
  saidAtMs: number;
  outcome: RunSummary["outcome"];
  path: RunMove[];
}

/** A thread as it was last saved. */
export interface ThreadView {
  id: string;
  slug: string;
  /** Counts the commits. */
  rev: number;
  /** Path of the chart's state. */
  state: string;
  /** The process that holds it; null: nobody does. */
  holder: string | null;
  waiting: number;
  messages: number;
  /** The active run's sums; null while there is none. */
  sums: RunSums | null;
  /** What the last message told of its visitor; null before the first one. */
  visitor: VisitorView | null;
}

/** All of it is the page's claim. */
export interface VisitorView {
  /** Pathname and search. */
  page: string | null;
  context: Record<string, string | number | boolean> | null;
  locale: string | null;
}

export interface RunSums {
  attempt: number;
  toolCalls: number;
  /** Tools whose calls of this turn have no result yet, in order. */
  calls: string[];
  deadlineMs: number | null;
  usage: { input: number; output: number } | null;
}

export type MessageView = Pick<Message, "id" | "role" | "content" | "createdAtMs" | "runId">;

/** A line of the stream about one thread. */
export type Sight =
  /** Nothing was said in the thread yet. */
  | { type: "untouched" }
  | { type: "thread"; thread: ThreadView }
  /** The newest runs, oldest first: all of them in the first line, then those that changed. */
  | { type: "runs"; runs: RunView[] }
  /** The newest messages, oldest first. */
  | { type: "messages"; messages: MessageView[] }
  /** Lines of a run's stream as they are said. `fresh`: the first ones, everything since the user's message. */
  | { type: "said"; runId: string; fresh: boolean; lines: Line[] }
  /** The store does not answer; the look is taken again. */
  | { type: "trouble"; message: string }
  | { type: "beat" };
