import type { Extra } from "../../model.ts";
import { isRecord } from "../../is-record.ts";

/** More than any signature or the longest thoughts need; all of it is saved, and sent again with every later turn. */
const MAX_CHARS = 262_144;

/** Deeper JSON could not be serialized again by everything that it passes through. */
const MAX_DEPTH = 32;

/** How many characters the fields have, approximately; Infinity: they are too deep. For a bound while they are collected. */
export function extraChars(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length;
  if (value === null) return 0;
  if (typeof value !== "object") return 8;
  if (depth === MAX_DEPTH) return Number.POSITIVE_INFINITY;
  let chars = 0;
  for (const [name, each] of Object.entries(value)) chars += name.length + extraChars(each, depth + 1);
  return chars;
}

/** Is this more than a turn keeps? */
export function isTooMuchExtra(chars: number): boolean {
  return chars > MAX_CHARS;
}

/** Joins the pieces of a stream: texts and lists grow, objects are joined field by field, other values are replaced. */
export function joinExtra(sum: Extra | null, piece: Extra | null): Extra | null {
  if (piece === null) return sum;
  if (sum === null) return piece;
  const joined = { ...sum };
  for (const [name, value] of Object.entries(piece)) {
    joined[name] = Object.hasOwn(sum, name) ? joinValue(sum[name], value) : value;
  }
  return joined;
}

function joinValue(sum: unknown, piece: unknown): unknown {
  if (typeof sum === "string" && typeof piece === "string") return sum + piece;
  if (Array.isArray(sum) && Array.isArray(piece)) return [...sum, ...piece];
  if (isRecord(sum) && isRecord(piece)) return joinExtra(sum, piece);
  return piece;
}
