/**
 * What must hold in every store between two steps, and what `store check --repair` does if it does not; null: it is
 * only reported, because only a person can say what is right.
 */
export const RULES = {
  "listed user is gone": "takes it from the list",
  "user is not listed": "lists it, as the newest",
  "external id leads to nobody": "forgets where it leads",
  "account is not reached": "leads its external id to it",
  "token leads to nobody": "ends the token",
  "token never ends": "lets it end in a day",
  "token is not listed": "lists it among its user's tokens",
  "listed tokens of nobody": "forgets the list",
  "thread names of nobody": "forgets the names",
  "channel is listed and not there": "takes it from the list",
  "channel is not listed": "lists it",
  "hold of a thread that is not held so": "forgets the hold",
  "thread is held and not listed": "lists the hold, so that it is taken over if nobody has it",
  "deadline of a thread that does not rest": "forgets the deadline",
  "resting thread has no deadline": "lists its deadline; if it has none, lets the call expire now",
  "part of a thread that is not there": "removes it",
  "waiting message has no text": "forgets that it waits",
  "text of a message that does not wait": "removes it",
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

/** What a person must decide about a fault without a repair, and how it is carried out. */
export const DECISIONS = {
  "thread has no name":
    "nobody reaches it: its user is gone, or lost the name. The operator API shows it (GET /v1/operator/channels/SLUG/threads/ID/messages); `threads delete SLUG ID` removes it",
  "messages wait and nobody holds the thread":
    "the next message to the thread runs them first; `threads delete SLUG ID` removes them with it",
  "message is out of its place":
    "the history has a gap there: restore a backup, or keep the thread as it is, or `threads delete SLUG ID`",
  "run is not listed":
    "its messages are there, the run's steps are not shown: keep it as it is, or restore a backup",
  "record cannot be read":
    "if it is a thread's, it is set aside when that is next used; to have it back, restore a backup, or CONTENT_KEYS",
  "restore has not ended": "repeat `store restore` with the same file, or empty the store",
} as const satisfies Record<Exclude<Rule, Repairable>, string>;

type Repairable = { [Of in Rule]: (typeof RULES)[Of] extends null ? never : Of }[Rule];

/** Null: it can be repaired. */
export function decisionOf(rule: Rule): string | null {
  return Object.entries(DECISIONS).find(([name]) => name === rule)?.[1] ?? null;
}

/** A possible fault that the walk has found. */
export interface Suspicion {
  rule: Rule;
  /** The record: a key, or an id. */
  what: string;
  /** How long the record may lag behind what it depends on: it is not judged before. */
  settlesMs?: number;
  /** Checks again, since others use the store meanwhile. */
  isStill(): Promise<boolean>;
  /** If the rule can be repaired: repairs it, or does nothing if it holds by now. */
  mend?(): Promise<void>;
}

/** How far a list may be behind. */
const BEHIND_MS = 5_000;
/** How far a list may be ahead: a commit that did not happen leaves its time there, and clocks differ. */
const AHEAD_MS = 60_000;

/** True if a list has the thread at its last activity. `atMs` null: the thread is not in it. */
export function isAtItsActivity(atMs: number | null | undefined, updatedAtMs: number): boolean {
  if (atMs === null || atMs === undefined) return false;
  return updatedAtMs - atMs <= BEHIND_MS && atMs - updatedAtMs <= AHEAD_MS;
}
