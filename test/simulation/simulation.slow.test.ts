// For src/threads/, src/stores/, src/http/, src/widget/run/, src/client/
import { describe, expect, test } from "vitest";
import { KNOWN } from "./known.ts";
import { reportOf } from "./report.ts";
import { newSeed, runSeeds, seedsFrom } from "./run-seeds.ts";
import seeds from "./seeds.json" with { type: "json" };
import { simulate } from "./simulation.ts";

const known = Object.keys(KNOWN);
const MINUTES = 60_000;
/** Some 20 s of an idle core. */
const RANGE = 100;

describe("a simulation", () => {
  test.each([1, 21, 52, 35, 851])("repeats seed %i event for event", async (seed) => {
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

  // The same ones always: what fails here was broken by the change that is tested.
  test("keeps every invariant on each seed of a range", { timeout: 10 * MINUTES }, async () => {
    const { broken, seeds } = await runSeeds(seedsFrom(1), {
      known,
      isEnough: ({ seeds, broken }) => broken.length > 0 || seeds >= RANGE,
    });
    expect(broken.map((outcome) => reportOf(outcome)).join("\n")).toBe("");
    expect(seeds).toBe(RANGE);
  });

  test.runIf(process.env["SIMULATE"] === "new")(
    "keeps every invariant on new seeds",
    { timeout: 10 * MINUTES },
    async () => {
      const { broken } = await runSeeds(seedsFrom(newSeed()), {
        known,
        isEnough: ({ tookMs, broken }) => broken.length > 0 || tookMs > MINUTES / 2,
      });
      expect(broken.map((outcome) => reportOf(outcome)).join("\n")).toBe("");
    },
  );
});
