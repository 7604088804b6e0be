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
  /** The queue of operators that should answer; absent: any. */
  queue?: string;
  /** The model's summary of the conversation so far; only if the model asked. */
  summary: string | null;
  /** When the wait began, or when the person took the thread. */
  sinceMs: number;
  /** When all this began: with the first question for a person, or with a person who took the thread unasked. Absent: unknown. */
  beganMs?: number;
  /**
   * While the thread waits: when the wait ends. Once a person has it: when the visitor has waited too long for an answer;
   * null if nothing of the visitor's waits for one.
   */
  deadlineMs: number | null;
  /** The person's name; null while the thread waits. */
  name: string | null;
  /** What the visitor calls the person; absent: by `name`. */
  shownAs?: string;
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
  queue?: string | undefined;
  summary: string | null;
  waitMs: number;
  atMs: number;
}

/** What stays of a hand-off, whoever has the thread. */
type Asked = Pick<Person, "askedBy" | "reason" | "summary" | "queue" | "beganMs">;

function askedOf({ askedBy, reason, summary, queue, beganMs }: Asked): Asked {
  return {
    askedBy,
    reason,
    summary,
    ...(queue === undefined ? {} : { queue }),
    ...(beganMs === undefined ? {} : { beganMs }),
  };
}

/** The beginning of a wait for a person. */
export function waitFor({ by: askedBy, reason, summary, ...wait }: PersonAsked): Person {
  return waitAgain({ askedBy, reason, summary, beganMs: wait.atMs }, wait);
}

/** How long a person who has a thread may leave the visitor without an answer, in ms; absent: as long as they like. */
interface MayLeave {
  answerMs?: number | undefined;
}

/** A person takes the thread, whether or not it waited for one. `isWaited`: something of the visitor's waits for an answer. */
export function takenBy(
  before: Person | null,
  {
    name,
    shownAs,
    takeId,
    atMs,
    answerMs,
    isWaited,
  }: MayLeave & {
    name: string;
    shownAs?: string | undefined;
    takeId: string;
    atMs: number;
    isWaited: boolean;
  },
): Person {
  const asked = askedOf(before ?? { askedBy: null, reason: null, summary: null, beganMs: atMs });
  const deadlineMs = isWaited && answerMs !== undefined ? atMs + answerMs : null;
  const shown = shownAs === undefined ? {} : { shownAs };
  return { ...asked, sinceMs: atMs, deadlineMs, name, ...shown, takeId, said: 0 };
}

/** The visitor wrote to the person who has the thread: the first message without an answer begins the time. */
export function writtenTo(person: Person, { atMs, answerMs }: MayLeave & { atMs: number }): Person {
  if (person.name === null || person.deadlineMs !== null || answerMs === undefined) return person;
  return { ...person, deadlineMs: atMs + answerMs };
}

/** The thread waits anew: for any person, or for one of another queue. */
export function waitAgain(
  before: Asked,
  { waitMs, atMs, queue = before.queue }: { waitMs: number; atMs: number; queue?: string | undefined },
): Person {
  const asked = askedOf({ ...before, ...(queue === undefined ? {} : { queue }) });
  return { ...asked, sinceMs: atMs, deadlineMs: atMs + waitMs, name: null, takeId: null, said: 0 };
}

/** What the visitor, and the model, call the person. */
export function shownName(person: Person | null): string | null {
  return person?.shownAs ?? person?.name ?? null;
}
