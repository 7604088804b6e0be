import { describe, expect, test } from "vitest";
import { KNOWN } from "./known.ts";
import { reportOf } from "./report.ts";
import { runSeeds, seedsFrom } from "./run-seeds.ts";
import seeds from "./seeds.json" with { type: "json" };
import { simulate } from "./simulation.ts";

const known = Object.keys(KNOWN);
const MINUTES = 60_000;

describe("a simulation", () => {
  test.each([1, 21, 52])("repeats seed %i event for event", async (seed) => {
    const [one, other] = [await simulate(seed, known), await simulate(seed, known)];
    expect(one.steps).toBeGreaterThan(500);
    expect(other.trace).toEqual(one.trace);
    expect(other.hash).toBe(one.hash);
  });

  test.each(seeds)(
    "keeps every invariant on seed $seed: $note",
    { timeout: 10 * MINUTES },
    async ({ seed }) => {
      const outcome = await simulate(seed, known);
      expect(reportOf(outcome)).toBe(`Seed ${seed}: every invariant held`);
    },
  );

  test("keeps every invariant on new seeds", { timeout: 10 * MINUTES }, async () => {
    const first = Date.now() % 1_000_000_000;
    const { broken } = await runSeeds(seedsFrom(first), {
      known,
      isEnough: ({ tookMs, broken }) => broken.length > 0 || tookMs > 20_000,
    });
    expect(broken.map((outcome) => reportOf(outcome)).join("\n")).toBe("");
  });
});
