import type { StoreHealth } from "../store.ts";

/**
 * What an engine can do: the whole contract between the steps of the store (steps/) and a database (engines/).
 *
 * A database holds hashes (texts by field), sorted sets (members by score) and, for statistics, sketches that count
 * distinct members; a key that has nothing in it does not exist. Each key belongs to one slot, its hash tag: `h:{t:3f}:UID`
 * is in the slot `t:3f`.
 *
 * A step is data: it names what was read, and what to write if that still holds. Nothing is decided in the database, so
 * every engine, the tests and a log can take the same value.
 */
export interface Step {
  /** What calls of it are named in the metrics: the store's method. */
  name?: string;
  /** The slot of all its keys. */
  slot: string;
  /** All of them must hold; otherwise nothing is written. */
  checks: readonly Check[];
  /**
   * Made in this order. If the engine is stopped between two of them, the same step, sent again, completes them: each is
   * idempotent, and a check of what one of them changes lists each new value too, except those of the last write.
   */
  writes: readonly Write[];
  /**
   * The field by which the step counts as done: the last of `writes` sets it to this value, which no other step uses. If
   * it has this value already, the step was made before: the checks are skipped, and only `after` is written.
   */
  op?: { key: string; field: string; value: string };
  /** Written when the step counts, and again when it is sent again: what others may only see afterwards. */
  after?: readonly Write[];
  /** Answered as they were before the writes, also if a check fails. */
  reads?: readonly Read[];
}

/** What must be as it was read. `is`: each value that will do; null: absent. */
export type Check =
  | { check: "field"; key: string; field: string; is: readonly (string | null)[] }
  | { check: "score"; key: string; member: string; is: readonly (number | null)[] }
  | { check: "key"; key: string; exists: boolean };

export type Pair = readonly [name: string, value: string];

/**
 * One change of one key. A step has at most one that may empty a key, and none of that key after it; what it adds as `new` it
 * does not take.
 */
export type Write =
  | { write: "set"; key: string; fields: readonly Pair[] }
  | { write: "remove"; key: string; fields: readonly string[] }
  /** `mode`: `raise` never lowers a score, `new` leaves members that are there. */
  | {
      write: "put";
      key: string;
      members: readonly (readonly [member: string, score: number])[];
      mode?: "raise" | "new";
    }
  | { write: "take"; key: string; members: readonly string[] }
  /** Takes all members with a lower score. */
  | { write: "trim"; key: string; belowScore: number }
  | { write: "drop"; key: string }
  /** The key, if it exists, is dropped so many ms from now; or up to a hundredth earlier. */
  | { write: "expire"; key: string; inMs: number }
  /** … at this time, Unix ms, if it would not be dropped before. */
  | { write: "end"; key: string; atMs: number }
  /** Counts members in a sketch. */
  | { write: "count"; key: string; members: readonly string[] };

export type Read =
  | { read: "fields"; key: string; fields: readonly string[] }
  | { read: "hash"; key: string }
  /**
   * Members by score, at most `limit`; `reverse`: from `to` down to `from`. Those with the same score by their bytes, but for
   * those of over 300 characters that begin alike (embedded: layout.ts).
   */
  | { read: "range"; key: string; from?: number; to?: number; reverse?: boolean; limit?: number }
  | { read: "scores"; key: string; members: readonly string[] }
  /** The number of members from one score to another. */
  | { read: "number"; key: string; from?: number; to?: number }
  /** The number of fields. */
  | { read: "size"; key: string }
  /**
   * Entries of a hash whose fields are numbers (entryText), as many as fit `limit` and `budget`, at least one: from `from`
   * up to `to`; without `from`, from `to` down. `to` may be the number in a field (0 if it is absent). Fields that are
   * missing are skipped.
   */
  | {
      read: "page";
      key: string;
      from?: number;
      to: number | { key: string; field: string };
      limit: number;
      budget: number;
    }
  /** When the key is dropped, Unix ms; null: it does not expire, or does not exist. */
  | { read: "expiry"; key: string }
  /** About how many distinct members a sketch has counted. Read alone: Redis counts it as a write. */
  | { read: "distinct"; key: string }
  | { read: "exists"; key: string };

export type Answer<R extends Read> = R["read"] extends "fields"
  ? (string | null)[]
  : R["read"] extends "hash"
    ? Pair[]
    : R["read"] extends "range"
      ? Member[]
      : R["read"] extends "scores"
        ? (number | null)[]
        : R["read"] extends "page"
          ? Entry[]
          : R["read"] extends "expiry"
            ? number | null
            : R["read"] extends "exists"
              ? boolean
              : number;

export type Member = [member: string, score: number];

/** An entry of a page: its number, and its text behind the head (entryText). */
export type Entry = [number: number, text: string];

export type Answers<Reads extends readonly Read[]> = { [Nth in keyof Reads]: Answer<Reads[Nth]> };

/** `failed`: the number of the first check that does not hold; nothing was written. */
export type Applied<Reads extends readonly Read[]> =
  | { type: "done"; reads: Answers<Reads> }
  | { type: "repeated"; reads: Answers<Reads> }
  | { type: "failed"; failed: number; reads: Answers<Reads> };

export interface How {
  /** `false`: no caller gets the answer, or relies on the write: it need not be as durable as DURABILITY asks. */
  durable?: boolean;
  /** As a step's. */
  name?: string;
}

/**
 * A database that keeps steps. Every call is limited to STORE_DEADLINE_MS and rejects with StoreUnavailable if there is no
 * answer; its outcome is then unknown.
 */
export interface Engine {
  readonly kind: "embedded" | "redis";
  /** All in one slot, and as of one moment. */
  read<const Reads extends readonly Read[]>(reads: Reads, how?: How): Promise<Answers<Reads>>;
  /** Atomic: other calls see all of it or nothing, unless the engine is stopped in the middle. */
  apply<const Reads extends readonly Read[] = readonly []>(
    step: Step & { reads?: Reads },
    how?: How,
  ): Promise<Applied<Reads>>;
  /** A hash of any length, in pages; an entry may come twice. */
  hashPages(key: string): AsyncIterable<Pair[]>;
  /** A sorted set of any length, in pages; a member may come twice. */
  memberPages(key: string): AsyncIterable<Member[]>;
  /** All keys whose names begin so and that exist during the whole walk, in pages; a key may come twice. */
  keys(prefix: string): AsyncIterable<string[]>;
  /** The database's time, Unix ms, as known here; null: not known yet. */
  timeMs(): number | null;
  /** Reads the database's time again. */
  readTime(): Promise<void>;
  /** To every process that listens under this name; best effort, and the sender may get it too. */
  tell(name: string, text: string): void;
  listen(name: string, listener: (text: string) => void): Promise<void>;
  /** Calls back after a new connection; returns a function that ends it. */
  onReconnect(callback: () => void): () => void;
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

/** The slot of a key: its hash tag. */
export function slotOf(key: string): string {
  return key.slice(key.indexOf("{") + 1, key.indexOf("}"));
}

/** An entry of a page: its length as it counts for the budget, and its text. */
export function entryText(chars: number, text: string): string {
  return `${chars}\n${text}`;
}

/** The text of an entry behind its head. */
export function textOfEntry(entry: string): string {
  return entry.slice(entry.indexOf("\n") + 1);
}
