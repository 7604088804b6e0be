// For test/faults/
import { expect, test } from "vitest";
import type { Round, Told } from "./cluster-round.ts";
import { roundTable } from "./round-table.ts";
import { longestAway } from "./witness.ts";

/** What is told of the cluster and of its callers, by example. */
test("a witness finds the longest time in which nobody was served, whoever says so first", () => {
  expect(longestAway([0, 100, 3_100, 3_200, 1_100])).toEqual({ awayMs: 2_000, backAtMs: 3_100 });
});

test("a short silence is none", () => {
  expect(longestAway([0, 300, 600])).toBeNull();
});

const TOLD: Told = { acknowledged: 10, refused: 1, unanswered: 0, longestMs: 1_500 };
const ROUND: Omit<Round, "workload"> = {
  nemesis: "replica lags",
  faults: ["lost: a", "lost: b", "doubled: c", "hangs: d"],
  hit: TOLD,
  others: { ...TOLD, refused: 0, longestMs: 200 },
  hitThreads: new Set(["a"]),
  awayMs: 3_000,
  servedAfterMs: 400,
  stoodStillMs: 50,
};

test("the table adds what is counted, and tells the longest of what is timed", () => {
  const [, , lags, all] = roundTable([ROUND, { ...ROUND, servedAfterMs: 900 }]).split("\n");
  expect(lags).toBe("| replica lags | 2 | 40 | 4 | 2 | 2 | 2 | 0 | 0 | 0 | 1.5 | 0.2 | 3.0 | 0.9 | 0.1 |");
  expect(all).toBe(lags?.replace("replica lags", "all"));
});

test("who was never away was not served again either", () => {
  const table = roundTable([{ ...ROUND, awayMs: 0, servedAfterMs: null }]);
  expect(table).toContain("| 0.0 | – | 0.1 |");
});
