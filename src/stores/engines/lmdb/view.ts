import type { Transaction } from "lmdb";
import type { Pair } from "../../engine.ts";
import type { LmdbDb } from "./file.ts";
import * as layout from "./layout.ts";
import type { Bounds } from "./layout.ts";

export interface Walk extends Bounds {
  /** From `start`, which is the last one then, down. */
  reverse?: boolean;
  inclusiveEnd?: boolean;
  limit?: number;
}

/** The file at one moment: of a transaction, of a change, or of the current turn of the event loop. */
export interface View {
  /** Unix ms: a key that expires by then does not exist. */
  nowMs: number;
  get(name: string): string | undefined;
  walk(walk: Walk): Iterable<{ key: string; value: string }>;
  names(walk: Walk): string[];
  count(bounds: Bounds): number;

  exists(key: string): boolean;
  /** Unix ms; undefined: it does not expire, or not even exist. */
  endsAtMs(key: string): number | undefined;
  /** True if it has expired, also if its records are still there. */
  hasEnded(key: string): boolean;
  value(key: string, field: string): string | null;
  score(key: string, member: string): number | null;
  /** A hash that is one record, as `[field, value, …]`. */
  whole(key: string): string[];
  /** Reads a key's expiry and its `whole` again next time; what a change makes of that array is seen without. */
  forget(key: string): void;
  /** All fields of any hash. */
  pairs(key: string): Pair[];
}

/** What a view has read of a key. */
interface Known {
  endsAtMs: number | undefined;
  fields?: string[];
}

export function viewOf(db: LmdbDb, nowMs: number, transaction?: Transaction): View {
  const at = transaction ? { transaction } : {};
  // lmdb writes into the options that it gets.
  const walk = (range: Walk) => db.getRange({ ...range, ...at });
  const get = (name: string) => db.get(name, at);
  const names = (range: Walk) => [...db.getKeys({ ...range, ...at })];

  const known = new Map<string, Known>();

  function knownOf(key: string): Known {
    const there = known.get(key);
    if (there) return there;
    const stored = layout.mayEnd(key) ? get(layout.expiryKey(key)) : undefined;
    const its = { endsAtMs: stored === undefined ? undefined : Number(stored) };
    known.set(key, its);
    return its;
  }

  const endsAtMs = (key: string) => knownOf(key).endsAtMs;
  const hasEnded = (key: string) => (endsAtMs(key) ?? Infinity) <= nowMs;

  function whole(key: string): string[] {
    const its = knownOf(key);
    if (its.fields) return its.fields;
    const stored = hasEnded(key) ? undefined : get(layout.wholeKey(key));
    const fields: string[] = stored === undefined ? [] : JSON.parse(stored);
    its.fields = fields;
    return fields;
  }

  function value(key: string, field: string): string | null {
    if (layout.isWhole(key)) return valueIn(whole(key), field);
    const stored = hasEnded(key) ? undefined : get(layout.recordKey(key, field));
    return stored === undefined ? null : layout.valueOf(field, stored);
  }

  return {
    nowMs,
    get,
    walk,
    names,
    count: (bounds) => db.getKeysCount({ ...bounds, ...at }),
    endsAtMs,
    hasEnded,
    whole,
    value,

    forget: (key) => void known.delete(key),

    exists(key) {
      if (hasEnded(key)) return false;
      if (layout.isWhole(key)) return get(layout.wholeKey(key)) !== undefined;
      return names({ ...layout.recordsOf(key), limit: 1 }).length > 0;
    },

    score(key, member) {
      const score = value(key, member);
      return score === null ? null : Number(score);
    },

    pairs(key) {
      if (layout.isWhole(key)) return pairsOf(whole(key));
      if (hasEnded(key)) return [];
      return [...walk(layout.recordsOf(key))].map((record) => layout.unpacked(record.key, record.value));
    },
  };
}

/** The value of a field in `[field, value, …]`. */
export function valueIn(fields: readonly string[], field: string): string | null {
  for (let at = 0; at < fields.length; at += 2) if (fields[at] === field) return fields[at + 1] ?? null;
  return null;
}

export function pairsOf(fields: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < fields.length; at += 2) pairs.push([fields[at] ?? "", fields[at + 1] ?? ""]);
  return pairs;
}
