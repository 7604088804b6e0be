import { spread } from "./spread.ts";

/** The waits between attempts that fail one after another. */
export interface Backoff {
  /** An attempt has succeeded: the next wait is the first one again. */
  reset(this: void): void;
  /** How long to wait before the next attempt, in milliseconds, at least as long as was asked; null: enough have failed. */
  next(this: void, askedMs?: number): number | null;
}

/** `waitsMs`: one after the other, of which the last one repeats; `most`: how many attempts in a row may fail. */
export function createBackoff(waitsMs: readonly number[], most = Infinity): Backoff {
  let failures = 0;
  return {
    reset() {
      failures = 0;
    },
    next(askedMs = 0) {
      if (failures >= most) return null;
      const waitMs = waitsMs[Math.min(failures, waitsMs.length - 1)] ?? 0;
      failures += 1;
      return Math.max(spread(waitMs), askedMs);
    },
  };
}

/** Each wait twice the one before, up to the longest. */
export function doubling(firstMs: number, longestMs: number): number[] {
  return firstMs < longestMs ? [firstMs, ...doubling(2 * firstMs, longestMs)] : [longestMs];
}
