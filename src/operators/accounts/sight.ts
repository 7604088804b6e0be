import type { Line } from "../../../machines/line.ts";
import type { RunMove } from "../../domain/threads/message.ts";
import type { RunSummary } from "../../store.ts";

/** An active or finished run. */
export interface RunView {
  runId: string;
  saidAtMs: number;
  outcome: RunSummary["outcome"];
  path: RunMove[];
}

/** A thread's machine as it was last saved. */
export interface MachineView {
  id: string;
  slug: string;
  /** The number of commits. */
  rev: number;
  /** Path of the chart's state. */
  state: string;
  /** The process that holds it; null: none. */
  holder: string | null;
  waiting: number;
  messages: number;
  /** The active run's sums; null while there is none. */
  sums: RunSums | null;
  /** The visitor's data of the last message; null before the first one. */
  visitor: VisitorView | null;
}

/** Data that the page claims; nothing of it is verified. */
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

/** A line of the watch of one thread (watch-thread.ts). */
export type Sight =
  /** The thread has no message yet. */
  | { type: "untouched" }
  | { type: "thread"; thread: MachineView }
  /** The newest runs, oldest first: all of them in the first line, then those that changed. */
  | { type: "runs"; runs: RunView[] }
  /** Lines of a run's stream as they are sent. `fresh`: the first ones, everything since the user's message. */
  | { type: "said"; runId: string; fresh: boolean; lines: Line[] }
  /** The store does not answer; the poll is repeated. */
  | { type: "trouble"; message: string }
  | { type: "beat" };
