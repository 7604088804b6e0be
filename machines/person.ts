/**
 * What a thread's chart knows of a person who answers instead of the model: only what decides the next move or is shown
 * to others.
 */

/** Who asked for a person. */
export type AskedBy = "model" | "visitor" | "transport";

/** The person who was asked for, or who has the thread. */
export interface Person {
  /** null: nobody asked; an operator took the thread on their own. */
  askedBy: AskedBy | null;
  reason: string | null;
  /** The model's summary of the conversation so far; only if the model asked. */
  summary: string | null;
  /** When the wait began, or when the person took the thread. */
  sinceMs: number;
  /** When the wait ends; null once a person has the thread. */
  deadlineMs: number | null;
  /** The person's name; null while the thread waits. */
  name: string | null;
  /** Distinguishes two simultaneous takes by one operator; null while the thread waits. */
  takeId: string | null;
  /** How many messages the person has written. */
  said: number;
}

/** How a person gave the thread back: the next run's model is told. */
export interface HandedBack {
  name: string;
  how: "returned" | "closed";
  /** The person's note to the model. */
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

/** A person takes the thread, whether or not it waited for one. */
export function takenBy(
  before: Person | null,
  { name, takeId, atMs }: { name: string; takeId: string; atMs: number },
): Person {
  const { askedBy, reason, summary } = before ?? { askedBy: null, reason: null, summary: null };
  return { askedBy, reason, summary, sinceMs: atMs, deadlineMs: null, name, takeId, said: 0 };
}
