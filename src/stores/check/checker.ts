import { UnreadableRecord } from "../../store.ts";
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

/** What must hold of the keys of a table, or of their entries, which come in pages. */
export type Checker =
  | { of: "key"; look: (key: WalkedKey) => Promise<Fault[]> }
  | { of: "fields"; look: (key: WalkedKey, fields: readonly Pair[]) => Promise<Fault[]> }
  | { of: "members"; look: (key: WalkedKey, members: readonly Member[]) => Promise<Fault[]> };

/** Makes a repair of what must still be as it was read, and of what to write then; all in one slot. */
export type Mending = (checks: readonly Check[], ...writes: [Write, ...Write[]]) => () => Promise<unknown>;

export function mending(engine: Engine): Mending {
  return (checks, ...writes) =>
    () =>
      engine.apply({ slot: slotOf(writes[0].key), checks, writes });
}

export function keyIs(key: string, exists: boolean): Check {
  return { check: "key", key, exists };
}

export function put(key: string, member: string, score: number, mode?: "new"): Write {
  return { write: "put", key, members: [[member, score]], ...(mode ? { mode } : {}) };
}

export function take(key: string, member: string): Write {
  return { write: "take", key, members: [member] };
}

/** The key means nothing without the other one of its slot. */
export function orphanChecker(
  engine: Engine,
  rule: Rule,
  ownerOf: (slug: string, id: string) => string,
): Checker {
  const mend = mending(engine);
  return {
    of: "key",
    async look({ key, tag, id }) {
      const owner = ownerOf(tag, id);
      const [isThere, isOwned] = await engine.read([
        { read: "exists", key },
        { read: "exists", key: owner },
      ]);
      if (!isThere || isOwned) return [];
      return [{ rule, what: key, mend: mend([keyIs(owner, false)], { write: "drop", key }) }];
    },
  };
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
