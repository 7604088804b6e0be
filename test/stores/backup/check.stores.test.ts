// For src/stores/check/
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RULES } from "../../../src/stores/check/rules.ts";
import type { Rule } from "../../../src/stores/check/rules.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { runCommand } from "../../support/terminal.ts";
import { plant, PLANTED, RESTORING } from "../check/planted.ts";
import type { Planted } from "../check/planted.ts";
import { SLUG } from "../samples.ts";
import { store, storeJson } from "./copy.ts";
import { fillStore } from "./fill.ts";
import { here, openPlace, placeForTest, within } from "./places.ts";
import type { StorePlace } from "./places.ts";

/** Every rule is broken past the service: the check finds that and nothing else, and the repair mends it. */
let place: StorePlace;
let backup: string;
beforeAll(async () => {
  backup = join(emptyFolder(), "backup");
  const filled = await openPlace(here);
  await within(filled, fillStore);
  await storeJson(filled.env, "backup", backup);
  await filled.remove();
});
beforeEach(async () => {
  place = await placeForTest();
  await storeJson(place.env, "restore", backup);
});

async function plantHere(...planted: readonly Planted[]): Promise<void> {
  const engine = await place.openEngine();
  for (const one of planted) await plant(engine, one);
  await engine.close();
}

const mendable = PLANTED.filter(({ rule }) => "repair" in RULES[rule]);
const undecided = PLANTED.filter(({ rule }) => "decision" in RULES[rule]);
/** What a check tells of these. */
const told = (planted: readonly Planted[]) => [
  ...new Set(planted.flatMap(({ rule, where }) => where.map((at) => `${rule}: ${at}`)).toSorted()),
];
const only = (wanted: Rule) => PLANTED.filter(({ rule }) => rule === wanted).slice(0, 1);

interface Told {
  fault: Rule;
  where: string;
  repair: string | null;
  decision: string | null;
  repaired: boolean;
}

async function check(...more: string[]): Promise<{ code: number; faults: Told[] }> {
  const { code, out, err } = await store(place.env, "check", "--json", ...more);
  if (out === "") throw new Error(err);
  return { code, faults: (JSON.parse(out) as { faults: Told[] }).faults };
}

const names = (faults: readonly Told[]) => faults.map(({ fault, where }) => `${fault}: ${where}`).toSorted();

describe("the check of a store", () => {
  test("finds nothing where nothing is wrong", async () => {
    expect(await check()).toEqual({ code: 0, faults: [] });
    expect((await store(place.env, "check")).out).toBe("Everything fits together\n");
  });

  test("finds every fault that can be mended, and mends all of them", async () => {
    await plantHere(...mendable);
    const found = await check();
    expect([found.code, names(found.faults)]).toEqual([1, told(mendable)]);
    for (const { fault, repair, decision, repaired } of found.faults) {
      expect([repair, decision, repaired]).toEqual([Object.values(RULES[fault])[0], null, false]);
    }
    const after = await check("--repair");
    expect([after.code, names(after.faults)]).toEqual([0, told(mendable)]);
    expect(after.faults.every(({ repaired }) => repaired)).toBe(true);
    expect(await check()).toEqual({ code: 0, faults: [] });

    const opened = await place.open();
    const page = { limit: 50, after: null, sinceMs: 0, untilMs: Infinity };
    const awaiting = await opened.channelThreads(SLUG, { ...page, state: "awaiting" });
    expect(awaiting.items.map(({ uid }) => uid)).toEqual(["bob-one"]);
    const all = await opened.channelThreads("bot", { ...page, limit: 500 });
    expect(all.items.length).toBe(450);
    const times = all.items.map(({ updatedAtMs }) => updatedAtMs);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    await opened.close();
  });

  test.each([
    ["in every other way", undecided],
    ["by a restore that has not ended", [RESTORING]],
  ])("only tells what a person must decide: the store is broken %s", async (_, planted) => {
    await plantHere(...planted);
    for (const more of [[], ["--repair"], []]) {
      const found = await check(...more);
      expect([found.code, names(found.faults)]).toEqual([1, told(planted)]);
      for (const { repair, decision, repaired } of found.faults) {
        expect([repair, decision === null, repaired]).toEqual([null, false, false]);
      }
    }
  });

  test("mends everything at once, and then only tells what a person must decide", async () => {
    await plantHere(...PLANTED);
    const { code, faults } = await check("--repair");
    expect(code).toBe(1);
    const left = faults.filter(({ repaired }) => !repaired);
    expect(left.filter(({ decision }) => decision === null)).toEqual([]);
    const again = await check();
    expect(names(again.faults)).toEqual(names(left));
    expect(new Set(left.map(({ fault }) => fault))).toEqual(new Set(undecided.map(({ rule }) => rule)));
  });

  test("E2: says what a person must decide of a thread without a name, and fits together once that is done", async () => {
    await plantHere(...only("thread has no name"));
    const { out, err } = await store(place.env, "check", "--repair");
    expect(out).toContain("threads delete SLUG ID");
    expect(err).toContain("about 1 of them a person must decide");
    const deleted = await runCommand(place.env, ["threads", "delete", "bot", "many-7"]);
    expect(deleted.err + deleted.out).toContain("Deleted thread many-7");
    expect(await check()).toEqual({ code: 0, faults: [] });
  });

  test("prints what is wrong, where, and what a repair would do", async () => {
    await plantHere(...only("token never ends"));
    const { code, out, err } = await store(place.env, "check");
    expect(code).toBe(1);
    expect(out).toMatch(
      /^FAULT +WHERE +REPAIR +DONE\ntoken never ends +\S.*hash-ann +lets it end in a day +no\n$/,
    );
    expect(err).toBe("Cannot call the store sound: 1 of its records do not fit\n");
    expect(await storeJson(place.env, "info")).toMatchObject({ tokens: 3 });
  });
});
