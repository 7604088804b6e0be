import type { Write } from "../../engine.ts";
import type { LmdbDb } from "./file.ts";
import * as layout from "./layout.ts";
import { membersOf } from "./reads.ts";
import { hashOf, MOST_HASHES } from "./sketch.ts";
import type { View } from "./view.ts";

/** Makes one change of a step, within a change of the file. */
export function makeWrite(db: LmdbDb, view: View, change: Write): void {
  const { key } = change;
  if (view.hasEnded(key)) dropKey(db, view, key);
  switch (change.write) {
    case "set":
      return setFields(db, view, change);
    case "remove":
      return removeFields(db, view, change);
    case "put":
      for (const [member, score] of change.members)
        putMember(db, view, { key, member, score, mode: change.mode });
      return;
    case "take":
      for (const member of change.members) takeMember(db, view, key, member);
      return endIfEmpty(db, view, key);
    case "trim":
      for (const [member] of membersOf(view.walk(layout.scoresBelow(key, change.belowScore)))) {
        takeMember(db, view, key, member);
      }
      return endIfEmpty(db, view, key);
    case "drop":
      dropKey(db, view, key);
      return;
    case "expire":
      return setEnd(db, view, key, view.nowMs + change.inMs);
    case "end":
      return setEnd(db, view, key, Math.min(view.endsAtMs(key) ?? Infinity, change.atMs));
    case "count":
      return countMembers(db, view, change);
  }
}

/** The names of members are not kept, and of very many only the smallest hashes: they tell how many there are (sketch.ts). */
function countMembers(db: LmdbDb, view: View, { key, members }: Write & { write: "count" }): void {
  for (const member of members) void db.put(layout.recordKey(key, hashOf(member)), "");
  const surplus = view.names(layout.recordsOf(key)).slice(MOST_HASHES);
  for (const name of surplus) void db.remove(name);
}

function setFields(db: LmdbDb, view: View, { key, fields }: Write & { write: "set" }): void {
  if (fields.length === 0) return;
  if (!layout.isWhole(key)) {
    for (const [field, value] of fields) {
      void db.put(layout.recordKey(key, field), layout.packed(field, value));
    }
    return;
  }
  const all = view.whole(key);
  for (const [field, value] of fields) {
    const at = placeOf(all, field);
    if (at < 0) all.push(field, value);
    else all[at + 1] = value;
  }
  void db.put(layout.wholeKey(key), JSON.stringify(all));
}

function removeFields(db: LmdbDb, view: View, { key, fields }: Write & { write: "remove" }): void {
  if (!layout.isWhole(key)) for (const field of fields) void db.remove(layout.recordKey(key, field));
  else {
    const all = view.whole(key);
    const before = all.length;
    for (const field of fields) {
      const at = placeOf(all, field);
      if (at >= 0) all.splice(at, 2);
    }
    if (all.length === before) return;
    if (all.length > 0) void db.put(layout.wholeKey(key), JSON.stringify(all));
    else void db.remove(layout.wholeKey(key));
  }
  endIfEmpty(db, view, key);
}

function placeOf(fields: readonly string[], field: string): number {
  for (let at = 0; at < fields.length; at += 2) if (fields[at] === field) return at;
  return -1;
}

function putMember(
  db: LmdbDb,
  view: View,
  put: { key: string; member: string; score: number; mode: "raise" | "new" | undefined },
): void {
  const { key, member, score, mode } = put;
  const known = view.score(key, member);
  if (known !== null) {
    if (known === score || mode === "new" || (mode === "raise" && known > score)) return;
    void db.remove(layout.scoreKey(key, known, member));
  }
  const value = layout.packed(member, String(score));
  void db.put(layout.recordKey(key, member), value);
  void db.put(layout.scoreKey(key, score, member), value);
}

function takeMember(db: LmdbDb, view: View, key: string, member: string): void {
  const known = view.score(key, member);
  if (known === null) return;
  void db.remove(layout.recordKey(key, member));
  void db.remove(layout.scoreKey(key, known, member));
}

/** At most so many records of a key, and when there are none left its expiry. False: some are left. */
export function dropKey(db: LmdbDb, view: View, key: string, limit?: number): boolean {
  const most = limit === undefined ? {} : { limit };
  const names = [layout.recordsOf(key), layout.allScores(key)].flatMap((bounds) =>
    view.names({ ...bounds, ...most }),
  );
  for (const name of names) void db.remove(name);
  view.forget(key);
  if (limit !== undefined && names.length >= limit) return false;
  removeEnd(db, view, key);
  return true;
}

/** A key that does not exist does not expire either: it may come back. */
function endIfEmpty(db: LmdbDb, view: View, key: string): void {
  if (view.endsAtMs(key) !== undefined && !view.exists(key)) removeEnd(db, view, key);
}

function removeEnd(db: LmdbDb, view: View, key: string): void {
  const atMs = view.endsAtMs(key);
  if (atMs === undefined) return;
  void db.remove(layout.expiryKey(key));
  void db.remove(layout.expiryByTime(atMs, key));
  view.forget(key);
}

/** A key that ends later than before keeps its place by time: dropExpired moves it. */
function setEnd(db: LmdbDb, view: View, key: string, atMs: number): void {
  const known = view.endsAtMs(key);
  if (known === atMs || (known === undefined && !view.exists(key))) return;
  if (!layout.mayEnd(key)) throw new Error(`Cannot let ${key} expire: keys of its table do not (tables.ts)`);
  void db.put(layout.expiryKey(key), String(atMs));
  if (known === undefined || atMs < known) void db.put(layout.expiryByTime(atMs, key), String(atMs));
  view.forget(key);
}

/** Records of expired keys that one change drops, and keys that it looks at. */
const DROPPED_AT_ONCE = 500;
const LOOKED_AT_ONCE = 10;

/** Drops some of what has expired. Returns when to go on: Unix ms, Infinity if nothing else expires. */
export function dropExpired(db: LmdbDb, view: View): number {
  for (let nth = 0; nth < LOOKED_AT_ONCE; nth++) {
    const [first] = view.walk({ ...layout.ALL_EXPIRIES, limit: 1 });
    if (first === undefined) return Infinity;
    if (Number(first.value) > view.nowMs) return Number(first.value);
    const key = layout.keyOfExpiry(first.key);
    if (view.hasEnded(key) && !dropKey(db, view, key, DROPPED_AT_ONCE)) break;
    void db.remove(first.key);
    const atMs = view.endsAtMs(key);
    if (atMs !== undefined) void db.put(layout.expiryByTime(atMs, key), String(atMs));
  }
  return view.nowMs;
}
