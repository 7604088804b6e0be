import { hash } from "node:crypto";

/**
 * A sketch that counts distinct members: the smallest hashes of them. As long as these are all, their number is the answer;
 * of more, the greatest of the kept ones tells how dense they lie (k minimum values: Bar-Yossef et al., Counting distinct
 * elements in a data stream, 2002). The error is about 1 / sqrt(MOST_HASHES), 1.6 %.
 */
export const MOST_HASHES = 4_096;

const DIGITS = 13;

/** 52 bits of the member's SHA-256, as text that sorts like the number and is none. */
export function hashOf(member: string): string {
  return `h${hash("sha256", member).slice(0, DIGITS)}`;
}

/** How many members there are about. `names`: those of the kept hashes, sorted; each ends in its hash. */
export function estimate(names: readonly string[]): number {
  const greatest = names[MOST_HASHES - 1];
  if (greatest === undefined) return names.length;
  const part = (Number.parseInt(greatest.slice(-DIGITS), 16) + 1) / 16 ** DIGITS;
  return Math.round((MOST_HASHES - 1) / part);
}
