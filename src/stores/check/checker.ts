import { UnreadableRecord } from "../../store.ts";
import { chunks } from "../backup/pages.ts";
import type { Rule } from "./rules.ts";
import { slotOf } from "../engine.ts";
import type { Check, Engine, Member, Pair, Write } from "../engine.ts";
import type { WalkedKey } from "../walk.ts";

/** What one look at a record has found. */
export interface Fault {
  rule: Rule;
  /** The record: a key, or an id. */
  what: string;
  /** Which entry of its key; absent: it is about the key as a whole. */
  entry?: string;
  /** What the fault follows from: if that has changed, it is not the same fault any more. */
  version?: string;
  /** It is one only if no user has a name for this thread. */
  unnamed?: string;
  /** The record may lag behind what it depends on. */
  settles?: true;
  /** Absent: only a person can say what is right. One step, which checks what this look has read. */
  mend?: () => Promise<unknown>;
}

/** What must hold of a key of a table, or of its entries, which are looked at in pages; with `entry`, of that one. */
export type Checker = (key: WalkedKey, entry?: string) => Pages<Fault[]>;

export type Pages<T> = AsyncIterable<T> | Iterable<Promise<T>>;

const ENTRIES_AT_ONCE = 500;

export function keyChecker(look: (key: WalkedKey) => Promise<Fault[]>): Checker {
  return (walked) => [look(walked)];
}

export function fieldsChecker(
  engine: Engine,
  look: (key: WalkedKey, fields: readonly Pair[]) => Promise<Fault[]>,
): Checker {
  async function* field(key: string, name: string): AsyncIterable<Pair[]> {
    const [[text = null]] = await engine.read([{ read: "fields", key, fields: [name] }]);
    if (text !== null) yield [[name, text]];
  }
  return async function* (walked, entry) {
    const { key } = walked;
    for await (const page of entry === undefined ? engine.hashPages(key) : field(key, entry)) {
      for (const some of chunks(page, ENTRIES_AT_ONCE)) yield await look(walked, some);
    }
  };
}

export function membersChecker(
  engine: Engine,
  look: (key: WalkedKey, members: readonly Member[]) => Promise<Fault[]>,
): Checker {
  async function* member(key: string, name: string): AsyncIterable<Member[]> {
    const [[score = null]] = await engine.read([{ read: "scores", key, members: [name] }]);
    if (score !== null) yield [[name, score]];
  }
  return async function* (walked, entry) {
    const { key } = walked;
    for await (const page of entry === undefined ? engine.memberPages(key) : member(key, entry)) {
      for (const some of chunks(page, ENTRIES_AT_ONCE)) yield await look(walked, some);
    }
  };
}

/** The key means nothing without the other one of its slot. */
export function orphanChecker(
  engine: Engine,
  rule: Rule,
  ownerOf: (slug: string, id: string) => string,
): Checker {
  return keyChecker(async ({ key, tag, id }) => {
    const owner = ownerOf(tag, id);
    const [isThere, isOwned] = await engine.read([
      { read: "exists", key },
      { read: "exists", key: owner },
    ]);
    if (!isThere || isOwned) return [];
    const mend = mending(engine, [keyIs(owner, false)], { write: "drop", key });
    return [{ rule, what: key, mend }];
  });
}

/** A repair of what must still be as it was read, and of what to write then; all in one slot. */
export function mending(
  engine: Engine,
  checks: readonly Check[],
  ...writes: [Write, ...Write[]]
): () => Promise<unknown> {
  return () => engine.apply({ slot: slotOf(writes[0].key), checks, writes });
}

export function keyIs(key: string, exists: boolean): Check {
  return { check: "key", key, exists };
}

export function set(key: string, field: string, text: string): Write {
  return { write: "set", key, fields: [[field, text]] };
}

export function remove(key: string, field: string): Write {
  return { write: "remove", key, fields: [field] };
}

export function put(key: string, member: string, score: number, mode?: "new"): Write {
  return { write: "put", key, members: [[member, score]], ...(mode ? { mode } : {}) };
}

export function take(key: string, member: string): Write {
  return { write: "take", key, members: [member] };
}

/** Why a record cannot be read; null: it can. */
export function misreading(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof UnreadableRecord) return error.message;
    throw error;
  }
}
