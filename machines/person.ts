/**
 * What a thread's chart knows of who answers when it is not the model: only what decides the next move, and what is told
 * of it.
 */

/** Who asked for a person. */
export type AskedBy = "model" | "visitor" | "transport";

/** The person who was asked for, or who has the thread. */
export interface Person {
  /** null: nobody asked; an operator came unasked. */
  askedBy: AskedBy | null;
  reason: string | null;
  /** What the model says has happened so far; only where the model asked. */
  summary: string | null;
  /** Since when the thread waits, or since when the person has it. */
  sinceMs: number;
  /** When the wait ends; null with a person. */
  deadlineMs: number | null;
  /** The person's name; null while the thread waits. */
  name: string | null;
  /** Tells apart two takes of one operator that came at once; null while the thread waits. */
  takeId: string | null;
  /** How many messages the person has written. */
  said: number;
}

/** How a person gave the thread back: the next run's model is told. */
export interface HandedBack {
  name: string;
  how: "returned" | "closed";
  /** The person's words for the model. */
  note: string | null;
}

export interface PersonAsked {
  by: AskedBy;
  reason: string | null;
  summary: string | null;
  waitMs: number;
  atMs: number;
}

/** The beginning of a wait for a person. */
export function waitFor({ by, reason, summary, waitMs, atMs }: PersonAsked): Person {
  return {
    askedBy: by,
    reason,
    summary,
    sinceMs: atMs,
    deadlineMs: atMs + waitMs,
    name: null,
    takeId: null,
    said: 0,
  };
}

/** A person takes the thread, whether it waited for one or not. */
export function takenBy(
  before: Person | null,
  { name, takeId, atMs }: { name: string; takeId: string; atMs: number },
): Person {
  const { askedBy, reason, summary } = before ?? { askedBy: null, reason: null, summary: null };
  return { askedBy, reason, summary, sinceMs: atMs, deadlineMs: null, name, takeId, said: 0 };
}
