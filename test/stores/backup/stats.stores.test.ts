// For src/stores/steps/stats.ts, src/operators/stats/
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { dayOf } from "../../../src/domain/day.ts";
import type { Store } from "../../../src/store.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { sampleChannel, SLUG } from "../samples.ts";
import { linesOf, storeJson } from "./copy.ts";
import { placeForTest, within } from "./places.ts";
import type { PlaceKind } from "./places.ts";

const WAYS: [from: PlaceKind, to: PlaceKind][] = inject("stores").includes("redis")
  ? [
      ["redis", "redis"],
      ["redis", "embedded"],
      ["embedded", "redis"],
    ]
  : [["embedded", "embedded"]];

const DAY_MS = 86_400_000;
const TODAY = dayOf(Date.now());
const LONG_AGO = dayOf(Date.now() - 300 * DAY_MS);
const DAYS = { from: LONG_AGO, to: TODAY };

async function count(store: Store, day: string, by: string, visitors: string[]): Promise<void> {
  const counts = { messages: 3, "runs.done": 2, inputTokens: 1_200, "wait.40": 2 };
  await store.addStats({ slug: SLUG, day, by, nth: 1, counts, visitors });
}

describe.each(WAYS)("statistics of the %s store, restored into the %s one", (from, to) => {
  test("are the days that were counted, and go on", async () => {
    const first = await placeForTest(from);
    const before = await first.open();
    await before.putChannel(sampleChannel());
    await count(before, LONG_AGO, "p1", ["ann"]);
    await count(before, TODAY, "p1", ["ann", "bob"]);
    await count(before, TODAY, "p2", ["bob", "cid"]);
    const counted = await before.stats(SLUG, DAYS);
    expect(counted.map(({ visitors }) => visitors)).toEqual([1, 3]);
    await before.close();
    const file = join(temporaryFolder(), "backup");
    await storeJson(first.env, "backup", file);
    expect(linesOf(file)[0]).toMatchObject({ type: "backup", version: 3 });

    const second = await placeForTest(to);
    await storeJson(second.env, "restore", file);
    const after = await second.open();
    expect(await after.stats(SLUG, DAYS)).toEqual(counted);
    // Under the number that the same process had before: it is another process.
    await count(after, TODAY, "p1", ["dora"]);
    const [, today] = await after.stats(SLUG, DAYS);
    expect(today).toMatchObject({ visitors: 4, counts: { messages: 9, inputTokens: 3_600 } });
    // A backup says how many spoke, and not who.
    await count(after, TODAY, "p3", ["ann"]);
    expect((await after.stats(SLUG, DAYS))[1]?.visitors).toBe(5);
    await after.close();

    const back = await placeForTest(to);
    const again = join(temporaryFolder(), "again");
    await storeJson(second.env, "backup", again);
    await storeJson(back.env, "restore", again);
    const longAgo = { from: LONG_AGO, to: LONG_AGO };
    expect(await within(back, (store) => store.stats(SLUG, longAgo))).toEqual(counted.slice(0, 1));
  });

  test("are not missed in a backup that has none", async () => {
    const first = await placeForTest(from);
    await within(first, async (store) => {
      await store.putChannel(sampleChannel());
      await store.addOperator({ name: "ada", role: "agent", keyHash: "ab".repeat(32), channels: null });
    });
    const file = join(temporaryFolder(), "backup");
    await storeJson(first.env, "backup", file);
    expect(linesOf(file).some(({ type }) => type === "stats")).toBe(false);
    const second = await placeForTest(to);
    await storeJson(second.env, "restore", file);
    expect(await within(second, (store) => store.stats(SLUG, DAYS))).toEqual([]);
  });
});
