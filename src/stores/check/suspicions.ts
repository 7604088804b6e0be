import { systemClock } from "../../clock.ts";
import { chunks } from "../backup/pages.ts";
import type { Suspicion } from "./rules.ts";
import type { Engine } from "../engine.ts";
import { uidFrom } from "../steps/users/user-record.ts";
import { tables } from "../tables.ts";
import { walk } from "../walk.ts";
import type { TableName, WalkedKey } from "../walk.ts";
import type { Checker, Fault } from "./checker.ts";
import { holdCheckers } from "./holds.ts";
import { nameCheckers } from "./names.ts";
import { orderCheckers } from "./orders.ts";
import { serviceCheckers } from "./service.ts";
import { threadCheckers } from "./threads.ts";
import { tokenCheckers } from "./tokens.ts";
import { userCheckers } from "./users.ts";

export interface CheckOptions {
  /** Called with the number of keys that were looked at so far. */
  onWalked?: ((records: number) => void) | undefined;
  /** A service may be using the store. */
  isServed: () => Promise<boolean>;
}

/** What is looked at together. */
const KEYS_AT_ONCE = 100;
const ENTRIES_AT_ONCE = 500;
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
  /** Those that need no comparison with all names; the others are kept. */
  function* found(looked: readonly Looked[]): Iterable<Suspicion> {
    for (const { fault, again } of looked) {
      const one = suspicion(fault, again, settlesMs);
      if (fault.unnamed === undefined) yield one;
      else unnamed.set(fault.unnamed, [...(unnamed.get(fault.unnamed) ?? []), one]);
    }
  }

  for await (const page of walk(engine)) {
    for (const keys of chunks(page, KEYS_AT_ONCE)) {
      // One key for each user or thread: many, and short. The others may be as long as the channel has users.
      const [short, long] = [keys.filter(isShort), keys.filter((key) => !isShort(key))];
      const looked = await Promise.all(short.map((key) => allOf(looksAt(engine, key, checkers))));
      yield* found(looked.flat());
      for (const key of long) for await (const some of looksAt(engine, key, checkers)) yield* found(some);
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
    ...threadCheckers(engine, nowMs),
    ...holds,
    messages: part,
    waiting: part,
    runs: part,
    runOrder: part,
    lastRun: part,
    parts: part,
    claims: part,
    outbox: part,
    aside: part,
  };
}

function isShort({ id, table }: WalkedKey): boolean {
  return id !== "" && table !== "busy";
}

/** A fault, and how its record is looked at again. */
interface Looked {
  fault: Fault;
  again: () => Promise<Fault[]>;
}

/** What is wrong with a key and its entries, in pages. */
async function* looksAt(engine: Engine, key: WalkedKey, checkers: Checkers): AsyncIterable<Looked[]> {
  for (const checker of checkers[key.table] ?? []) {
    for await (const faults of pagesOf(engine, key, checker)) {
      yield faults.map((fault) => ({
        fault,
        again: () => lookAgain(engine, key, { checker, entry: fault.entry ?? "" }),
      }));
    }
  }
}

async function* pagesOf(engine: Engine, key: WalkedKey, checker: Checker): AsyncIterable<Fault[]> {
  switch (checker.of) {
    case "key":
      yield await checker.look(key);
      break;
    case "fields":
      for await (const page of engine.hashPages(key.key)) {
        for (const some of chunks(page, ENTRIES_AT_ONCE)) yield await checker.look(key, some);
      }
      break;
    case "members":
      for await (const page of engine.memberPages(key.key)) {
        for (const some of chunks(page, ENTRIES_AT_ONCE)) yield await checker.look(key, some);
      }
  }
}

async function lookAgain(
  engine: Engine,
  walked: WalkedKey,
  { checker, entry }: { checker: Checker; entry: string },
): Promise<Fault[]> {
  const { key } = walked;
  switch (checker.of) {
    case "key":
      return checker.look(walked);
    case "fields": {
      const [[text = null]] = await engine.read([{ read: "fields", key, fields: [entry] }]);
      return text === null ? [] : checker.look(walked, [[entry, text]]);
    }
    case "members": {
      const [[score = null]] = await engine.read([{ read: "scores", key, members: [entry] }]);
      return score === null ? [] : checker.look(walked, [[entry, score]]);
    }
  }
}

async function allOf<T>(pages: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

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
  for await (const keys of engine.keys(`${tables.names.name}:{`)) {
    for (const key of keys) {
      for await (const page of engine.hashPages(key)) {
        for (const [, entry] of page) unnamed.delete(uidFrom(entry));
      }
    }
  }
  for (const suspicions of unnamed.values()) yield* suspicions;
  unnamed.clear();
}
