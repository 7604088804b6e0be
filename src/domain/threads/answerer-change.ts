/** How it changed who answers in a thread. `unanswered`: a person left the visitor without an answer. */
export type HowChanged =
  | "asked"
  | "cancelled"
  | "expired"
  | "taken"
  | "unanswered"
  | "queued"
  | "returned"
  | "closed";

/** A change of who answers in a thread. Its conversation shows it between the messages, by its time. */
export interface AnswererChange {
  /** The thread's epoch from then on: no two changes have the same. */
  epoch: number;
  how: HowChanged;
  atMs: number;
  /** The person who took the thread, or had it until then; absent: nobody. */
  by?: string;
  /** What the visitor calls the person; absent: by `by`. */
  shownAs?: string;
  queue?: string;
  /** Why a person was asked for. */
  reason?: string;
}

/** Stored as parts (kept-text.ts), numbered by epoch, of a run id that no run has: sealed, moved and deleted with the thread's parts. */
export const ANSWERERS = "~answerers";

/** The newest that a conversation shows. */
export const MOST_SHOWN = 100;
