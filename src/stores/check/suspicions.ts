import { systemClock } from "../../clock.ts";
import { chunks } from "../backup/pages.ts";
import type { Rule } from "./rules.ts";
import type { Engine } from "../engine.ts";
import { uidFrom } from "../steps/users/user-record.ts";
import { tables } from "../tables.ts";
import { prefixOf, walk } from "../walk.ts";
import type { TableName, WalkedKey } from "../walk.ts";
import type { Checker, Fault, Pages } from "./checker.ts";
import { holdCheckers } from "./holds.ts";
import { nameCheckers } from "./names.ts";
import { orderCheckers } from "./orders.ts";
import { serviceCheckers } from "./service.ts";
import { threadChecker } from "./threads.ts";
import { tokenCheckers } from "./tokens.ts";
import { userCheckers } from "./users.ts";

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

export interface CheckOptions {
  /** Called with the number of keys that were looked at so far. */
  onWalked?: ((records: number) => void) | undefined;
  /** A service may be using the store. */
  isServed: () => Promise<boolean>;
}

/** Keys that are looked at together. */
const KEYS_AT_ONCE = 100;
/** The lists by activity and state are written within two seconds after a commit, and once more if that failed. */
const SETTLES_MS = 5_000;
/** Threads without a listed owner that are kept until all names are read. */
const UNNAMED_AT_ONCE = 10_000;

/**
 * Everything in a store that seems to break a rule, found in one walk over all keys while others work on it. Each suspicion
 * looks at its record again before it is repaired.
 */
export async function* suspicionsOf(
  engine: Engine,
  { onWalked = () => {}, isServed }: CheckOptions,
): AsyncIterable<Suspicion> {
  const isRestoring = async () => {
    const [isThere] = await engine.read([{ read: "exists", key: tables.restoring.key }]);
    return isThere;
  };
  // Until the restore has ended the records do not fit together.
  if (await isRestoring()) {
    yield { rule: "restore has not ended", what: tables.restoring.key, isStill: isRestoring };
    return;
  }

  const settlesMs = (await isServed()) ? SETTLES_MS : 0;
  const checkers = checkersOf(engine);
  const unnamed: Unnamed = new Map();
  let walked = 0;

  async function* lookAt(key: WalkedKey): AsyncIterable<Suspicion> {
    for (const checker of checkers[key.table] ?? []) {
      for await (const faults of checker(key)) {
        for (const fault of faults) {
          const again = async () => (await allOf(checker(key, fault.entry))).flat();
          const one = suspicion(fault, again, settlesMs);
          if (fault.unnamed === undefined) yield one;
          else unnamed.set(fault.unnamed, [...(unnamed.get(fault.unnamed) ?? []), one]);
        }
      }
    }
  }

  for await (const page of walk(engine)) {
    for (const keys of chunks(page, KEYS_AT_ONCE)) {
      // One key for each user or thread: many, and short. The others may be as long as the channel has users.
      const short = keys.filter(isShort);
      for (const found of await Promise.all(short.map((key) => allOf(lookAt(key))))) yield* found;
      for (const key of keys) if (!isShort(key)) yield* lookAt(key);
      walked += keys.length;
      onWalked(walked);
      if (unnamed.size >= UNNAMED_AT_ONCE) yield* withoutName(engine, unnamed);
    }
  }
  yield* withoutName(engine, unnamed);
}

type Checkers = Partial<Record<TableName, readonly Checker[]>>;

function checkersOf(engine: Engine): Checkers {
  const nowMs = () => engine.timeMs() ?? systemClock.now();
  const { part, ...holds } = holdCheckers(engine);
  return {
    ...serviceCheckers(engine),
    ...userCheckers(engine, nowMs),
    ...tokenCheckers(engine),
    ...nameCheckers(engine),
    ...orderCheckers(engine, nowMs),
    ...holds,
    header: [threadChecker(engine, nowMs)],
    messages: part,
    waiting: part,
    runs: part,
    runOrder: part,
    parts: part,
    claims: part,
    outbox: part,
    aside: part,
  };
}

function isShort({ id, table }: WalkedKey): boolean {
  return id !== "" && table !== "busy";
}

async function allOf<T>(list: Pages<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
}

/** `again`: looks at the record again. */
function suspicion(fault: Fault, again: () => Promise<Fault[]>, settlesMs: number): Suspicion {
  const { rule, what, version, settles, mend } = fault;
  const now = async () =>
    (await again()).find((one) => one.rule === rule && one.what === what && one.version === version);
  return {
    rule,
    what,
    ...(settles && settlesMs > 0 ? { settlesMs } : {}),
    isStill: async () => (await now()) !== undefined,
    ...(mend ? { mend: async () => void (await (await now())?.mend?.()) } : {}),
  };
}

/** By the thread's uid. */
type Unnamed = Map<string, Suspicion[]>;

/** The suspicions about threads that no user has a name for; forgets all of them. */
async function* withoutName(engine: Engine, unnamed: Unnamed): AsyncIterable<Suspicion> {
  if (unnamed.size === 0) return;
  for await (const keys of engine.keys(prefixOf(tables.names))) {
    for (const key of keys) {
      for await (const page of engine.hashPages(key)) {
        for (const [, entry] of page) unnamed.delete(uidFrom(entry));
      }
    }
  }
  for (const suspicions of unnamed.values()) yield* suspicions;
  unnamed.clear();
}
