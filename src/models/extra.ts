import type { Extra, ModelCall } from "../model.ts";
import { isRecord } from "./is-record.ts";

/** More than any signature or the longest thoughts need; all of it is saved, and sent again with every later turn. */
const MAX_CHARS = 262_144;

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

/** The extra fields that a turn keeps: none, if they are too long together. */
export function withoutLongExtra(
  calls: readonly ModelCall[],
  extra: Extra | null,
): { calls: ModelCall[]; extra?: Extra } {
  const all = [extra, ...calls.map((call) => call.extra ?? null)].filter((each) => each !== null);
  const chars = all.reduce((sum, each) => sum + JSON.stringify(each).length, 0);
  if (chars > MAX_CHARS) return { calls: calls.map(({ extra: _, ...call }) => call) };
  return { calls: [...calls], ...(extra === null ? {} : { extra }) };
}
