import { hash } from "node:crypto";
import { EXPIRING, tables } from "../../tables.ts";

/**
 * How hashes, sorted sets and sketches lie in lmdb's file, which holds texts under texts, sorted by bytes:
 *
 * | under | |
 * |---|---|
 * | `k` KEY NUL PART | a field's value; a member's score; nothing, of a member of a sketch |
 * | `k` KEY NUL | a small hash as a whole: JSON, `[field, value, …]` |
 * | `s` KEY NUL SCORE NUL MEMBER | a member by score: its score again |
 * | `e` KEY | when the key is dropped, Unix ms |
 * | `x` TIME NUL KEY | a time by which to look whether the key has expired; at least one until then |
 * | `format` | ../../format.ts |
 *
 * lmdb's keys have at most 1,978 bytes. So of a text of more than LONG characters the key has the beginning and a hash, and
 * the value has the text before what it has otherwise. Such members with the same score and the same beginning are sorted by
 * hash.
 */
const LONG = 300;

export interface Bounds {
  start: string;
  /** Not included. */
  end: string;
}

/** Hashes with few fields that are read and written together: as one record, which is twice as fast. */
const WHOLE = new Set(
  [
    tables.header,
    tables.user,
    tables.token,
    tables.channel,
    tables.external,
    tables.moved,
    tables.lease,
    tables.knowledgeLease,
    tables.endpoint,
    tables.counted,
  ].map(({ name }) => name),
);

export function isWhole(key: string): boolean {
  return WHOLE.has(key.slice(0, key.indexOf(":")));
}

const LASTING = new Set(
  Object.values(tables)
    .filter((table) => !EXPIRING.includes(table))
    .map(({ name, plane }) => `${name}:{${plane}`),
);

/** False: the key is of a table whose keys do not expire. */
export function mayEnd(key: string): boolean {
  return !LASTING.has(key.slice(0, key.indexOf("{") + 2));
}

export function wholeKey(key: string): string {
  return `k${key}\0`;
}

/** A field, or a member of a sorted set or a sketch. */
export function recordKey(key: string, text: string): string {
  return `k${key}\0${partOf(text)}`;
}

/** All records of a key but its members by score. */
export function recordsOf(key: string): Bounds {
  return { start: `k${key}\0`, end: `k${key}\u0001` };
}

/** Fields that are numbers, from one up to another, both included; sorted as numbers. */
export function numbersOf(key: string, from: number, to: number): Bounds {
  const nameOf = (number: number) => recordKey(key, String(Math.min(Math.max(number, 1), GREATEST)));
  return { start: nameOf(from), end: `${nameOf(to)}\0` };
}

export function scoreKey(key: string, score: number, member: string): string {
  return `s${key}\0${scoreText(score)}\0${isLong(member) ? shortened(member) : member}`;
}

/** Members from one score to another, both included. */
export function scoresOf(key: string, from: number, to: number): Bounds {
  return { start: `s${key}\0${scoreText(from)}\0`, end: `s${key}\0${scoreText(to)}\u0001` };
}

/** Members by score that are lower than this one. */
export function scoresBelow(key: string, score: number): Bounds {
  return { start: `s${key}\0`, end: `s${key}\0${scoreText(score)}\0` };
}

export function allScores(key: string): Bounds {
  return { start: `s${key}\0`, end: `s${key}\u0001` };
}

export function expiryKey(key: string): string {
  return `e${key}`;
}

export function expiryByTime(atMs: number, key: string): string {
  return `x${scoreText(atMs)}\0${key}`;
}

export const ALL_EXPIRIES: Bounds = { start: "x", end: "y" };

/** The key in the name of a record of its expiry by time. */
export function keyOfExpiry(name: string): string {
  return name.slice(name.indexOf("\0") + 1);
}

/** The records of keys whose names begin so, and … */
export function recordsFrom(prefix: string): Bounds {
  return { start: `k${prefix}`, end: "l" };
}

/** … those behind a key. */
export function recordsBehind(key: string): Bounds {
  return { start: `k${key}\u0001`, end: "l" };
}

/** The key that a record belongs to. */
export function keyOfRecord(name: string): string {
  return name.slice(1, name.indexOf("\0"));
}

/** What a record keeps: its value, behind the text if the name has only its beginning. */
export function packed(text: string, value: string): string {
  return isLong(text) ? `${text.length}\n${text}${value}` : value;
}

/** The value of the record of this text. */
export function valueOf(text: string, stored: string): string {
  return isLong(text) ? stored.slice(stored.indexOf("\n") + 1 + text.length) : stored;
}

/** The text and the value of a record: `k` and, if `isByScore`, `s`. */
export function unpacked(name: string, stored: string, isByScore = false): [text: string, value: string] {
  const start = name.indexOf("\0") + 1;
  const part = isByScore ? name.slice(start + SCORE_CHARS + 1) : name.slice(start);
  if (part.length > LONG + 1) {
    const head = stored.indexOf("\n") + 1;
    const end = head + Number(stored.slice(0, head - 1));
    return [stored.slice(head, end), stored.slice(end)];
  }
  return [!isByScore && part < PLAIN_END ? part.slice(1) : part, stored];
}

const isLong = (text: string) => text.length > LONG;
const shortened = (text: string) => text.slice(0, LONG) + hash("sha256", text);

const NUMBER = /^[1-9]\d{0,14}$/;
const GREATEST = 999_999_999_999_999;
/** Begins the part of a text that would otherwise be taken for a number; those begin with the number of their digits. */
const PLAIN = "\u0010";
const PLAIN_END = "\u0011";

function partOf(text: string): string {
  const part = isLong(text) ? shortened(text) : text;
  const first = part.charCodeAt(0);
  // Of an empty text it is NaN.
  if (!(first > 16)) return PLAIN + part;
  return first <= 57 && NUMBER.test(part) ? String.fromCharCode(part.length) + part : part;
}

const SCORE_CHARS = 16;
const float = new DataView(new ArrayBuffer(8));
const hex = (bits: number) => (bits >>> 0).toString(16).padStart(8, "0");

/** A text that is sorted as the number is. */
function scoreText(score: number): string {
  // -0 becomes 0.
  float.setFloat64(0, score + 0);
  const [high, low] = [float.getInt32(0), float.getInt32(4)];
  return high < 0 ? hex(~high) + hex(~low) : hex(high | 0x80_00_00_00) + hex(low);
}
