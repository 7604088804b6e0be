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
  /**
   * While the thread waits: when the wait ends. Once a person has it: when the visitor has waited too long for an answer;
   * null if nothing of the visitor's waits for one.
   */
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
export function waitFor({ by: askedBy, reason, summary, waitMs, atMs }: PersonAsked): Person {
  return waitAgain({ askedBy, reason, summary }, { waitMs, atMs });
}

/** How long a person who has a thread may leave the visitor without an answer, in ms; absent: as long as they like. */
type AnswerMs = number | undefined;

/** A person takes the thread, whether or not it waited for one. `isWaited`: something of the visitor's waits for an answer. */
export function takenBy(
  before: Person | null,
  {
    name,
    takeId,
    atMs,
    answerMs,
    isWaited,
  }: { name: string; takeId: string; atMs: number; answerMs?: AnswerMs; isWaited: boolean },
): Person {
  const { askedBy, reason, summary } = before ?? { askedBy: null, reason: null, summary: null };
  const deadlineMs = isWaited && answerMs !== undefined ? atMs + answerMs : null;
  return { askedBy, reason, summary, sinceMs: atMs, deadlineMs, name, takeId, said: 0 };
}

/** The visitor wrote to the person who has the thread: the first message without an answer begins the time. */
export function writtenTo(person: Person, { atMs, answerMs }: { atMs: number; answerMs?: AnswerMs }): Person {
  if (person.name === null || person.deadlineMs !== null || answerMs === undefined) return person;
  return { ...person, deadlineMs: atMs + answerMs };
}

/** The person who had the thread did not answer: it waits for another one, or for the same. */
export function waitAgain(
  { askedBy, reason, summary }: Pick<Person, "askedBy" | "reason" | "summary">,
  { waitMs, atMs }: { waitMs: number; atMs: number },
): Person {
  return {
    askedBy,
    reason,
    summary,
    sinceMs: atMs,
    deadlineMs: atMs + waitMs,
    name: null,
    takeId: null,
    said: 0,
  };
}
