// For bench/rig/numbers.ts, bench/beside.ts
import { describe, expect, test } from "vitest";
import { medianWithin } from "../../bench/rig/numbers.ts";

/** How likely it is that at most so many of `count` values lie below the true median. */
function atMost(many: number, count: number): number {
  let ways = 1;
  let sum = 0;
  for (let nth = 0; nth <= many; nth++) {
    sum += ways;
    ways = (ways * (count - nth)) / (nth + 1);
  }
  return sum / 2 ** count;
}

describe("the range of a median", () => {
  test.each([6, 12, 20, 30, 40, 200])(
    "of %i values leaves the true one out at most once in 20 times",
    (count) => {
      const values = Array.from({ length: count }, (_, nth) => nth);
      const { low, high } = medianWithin(values);
      expect(high).toBe(count - 1 - low);
      // It is left out if at most `low` of the values lie below it, or above.
      expect(2 * atMost(low, count)).toBeLessThanOrEqual(0.05);
      // One value less on each side would be too few.
      if (low + 1 < high) expect(2 * atMost(low + 1, count)).toBeGreaterThan(0.05);
    },
  );

  test("of a few values is all of them", () => {
    expect(medianWithin([1.2, 1, 1.1])).toEqual({ low: 1, high: 1.2 });
  });
});
