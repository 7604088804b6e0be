/**
 * What must hold in every store between two steps, and what `store check --repair` does where it does not; null: it is
 * told alone, because nobody but a person can say what is right.
 */
export const RULES = {
  "listed user is gone": "takes it from the list",
  "user is not listed": "lists it, as the newest",
  "external id leads to nobody": "forgets where it leads",
  "account is not reached": "leads its external id to it",
  "token leads to nobody": "ends the token",
  "token never ends": "lets it end in a day",
  "thread names of nobody": "forgets the names",
  "channel is listed and not there": "takes it from the list",
  "channel is not listed": "lists it",
  "hold of a thread that is not held so": "forgets the hold",
  "thread is held and not listed": "lists the hold, so that it is taken over if nobody has it",
  "deadline of a thread that does not rest": "forgets the deadline",
  "resting thread has no deadline": "lets the call expire now",
  "part of a thread that is not there": "removes it",
  "thread is not at its last activity": "puts it there",
  "thread is not listed by its state": "lists it",
  "thread is listed by a state that it is not in": "takes it from that list",
  "listed thread is not there": "takes it from the list",
  "owner of a thread is not listed": "lists whose it is",
  "listed owner is of no thread": "forgets the owner",
  "blocked user is not listed": "lists the user",
  "listed user is not blocked": "takes the user from the list",
  "thread has no name": null,
  "messages wait and nobody holds the thread": null,
  "message is out of its place": null,
  "run is not listed": null,
  "record cannot be read": null,
  "restore has not ended": null,
} as const satisfies Record<string, string | null>;

export type Rule = keyof typeof RULES;

/** One thing that looked wrong when it was walked by. */
export interface Suspicion {
  rule: Rule;
  /** Which one: a key, or an id. */
  what: string;
  /** What is written so long after what it follows from is not judged before. */
  settlesMs?: number;
  /** Looks again: others work on the store meanwhile. */
  isStill(): Promise<boolean>;
  /** Where the rule can be mended: does nothing where it holds by now. */
  mend?(): Promise<void>;
}

/** A list is right within so long. */
const BEHIND_MS = 5_000;
/** A commit that did not happen leaves its time in the list, and two clocks are not the same. */
const AHEAD_MS = 60_000;

/** Does a thread stand in a list where its last activity is? `atMs` null: it is not in it. */
export function isAtItsActivity(atMs: number | null | undefined, updatedAtMs: number): boolean {
  if (atMs === null || atMs === undefined) return false;
  return updatedAtMs - atMs <= BEHIND_MS && atMs - updatedAtMs <= AHEAD_MS;
}
