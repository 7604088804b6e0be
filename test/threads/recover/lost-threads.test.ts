// For src/threads/recover/lost-threads.ts
import { expect, test } from "vitest";
import { createLostThreads } from "../../../src/threads/recover/lost-threads.ts";
import { systemClock } from "../../../src/clock.ts";
import type { Hold, Share } from "../../../src/store.ts";
import { createReference } from "../../stores/twin/reference.ts";
import { sampleCommit } from "../../stores/samples.ts";

/** A process that means to hold nothing, on a store and a time that the test sets. */
function lookout() {
  const reference = createReference(systemClock);
  let nowMs = 0;
  let isAway = false;
  const asked: (Share | undefined)[] = [];
  const loaded: string[] = [];
  const ours = new Set<string>();
  const others: Hold[] = [];
  const store = {
    processId: "self",
    async heldBy(holder: string | null, share?: Share) {
      if (isAway) throw new Error("away");
      if (holder === null) return [...others];
      asked.push(share);
      return reference.heldBy(holder);
    },
    load(uid: string, budgetChars: number) {
      loaded.push(uid);
      return reference.load(uid, budgetChars);
    },
  };
  const lost = createLostThreads({
    store,
    clock: { elapsed: () => nowMs },
    isOurs: (fence) => ours.has(fence),
  });
  return {
    lost,
    asked,
    loaded,
    ours,
    others,
    pass: (ms: number) => void (nowMs += ms),
    setAway: (away: boolean) => void (isAway = away),
    hold: (uid: string, fence: string) => reference.commit(sampleCommit({ uid, opId: uid, fence })),
    /** What one look found. */
    look: async (instances = 1): Promise<string[]> => {
      const found: Hold[] = [];
      await lost.look(instances, async (held) => void found.push(...held));
      return [...new Set(found.map(({ uid }) => uid))].toSorted();
    },
  };
}

const isWhole = (share: Share | undefined) => share === undefined;

test("the first look is at everything, and so is the one after a new connection", async () => {
  const { lost, asked, hold, look } = lookout();
  await hold("t1", "self:a");
  expect(await look()).toEqual(["t1"]);
  await look();
  expect(asked.filter(isWhole)).toHaveLength(1);
  lost.suspectAll();
  await look();
  await look();
  expect(asked.filter(isWhole)).toHaveLength(2);
});

test("a look at everything that failed is made again", async () => {
  const { asked, setAway, look } = lookout();
  setAway(true);
  await expect(look()).rejects.toThrow("away");
  setAway(false);
  await look();
  expect(asked.filter(isWhole)).toHaveLength(1);
});

test("what this process means to hold is not lost, nor what others hold", async () => {
  const { lost, ours, hold, look } = lookout();
  await hold("t1", "self:a");
  await hold("t2", "other:a");
  ours.add("self:a");
  lost.suspect("t1");
  lost.suspect("t2");
  lost.suspect("unknown");
  expect(await look()).toEqual([]);
});

test("what another process beside holds is taken up when it is still held after moments, and at the start at once", async () => {
  const { others, look, pass } = lookout();
  others.push({ uid: "t1", fence: "earlier:a" });
  expect(await look()).toEqual(["t1"]);
  others.splice(0, 1, { uid: "t2", fence: "beside:a" });
  pass(1_000);
  expect(await look()).toEqual([]);
  others.splice(0, 1, { uid: "t2", fence: "beside:b" });
  pass(1_500);
  expect(await look()).toEqual([]);
  pass(2_000);
  expect(await look()).toEqual(["t2"]);
});

test("a suspect is found at once, or when its late claim has arrived, and is looked at for half a minute", async () => {
  const { lost, loaded, hold, look, pass } = lookout();
  await look();
  lost.suspect("t1");
  expect(await look()).toEqual([]);
  await hold("t1", "self:a");
  pass(5_000);
  expect(await look(1_000)).toEqual(["t1"]);
  for (let seconds = 0; seconds < 60; seconds++) {
    pass(1_000);
    await look(1_000);
  }
  expect(loaded.length).toBeGreaterThanOrEqual(6);
  expect(loaded.length).toBeLessThanOrEqual(9);
});

test("many suspects at once are a look at everything", async () => {
  const { lost, asked, loaded, look } = lookout();
  await look();
  for (let nth = 0; nth < 1_000; nth++) lost.suspect(`t${nth}`);
  await look();
  expect(asked.filter(isWhole)).toHaveLength(2);
  expect(loaded.length).toBeLessThanOrEqual(256);
});

test("without any reason everything is looked at slowly, by all instances together as fast as by one", async () => {
  for (const [instances, wholeMs] of [
    [1, 20_000],
    [10, 200_000],
  ] as const) {
    const { asked, look, pass } = lookout();
    for (let ms = 0; ms < wholeMs; ms += 100) {
      await look(instances);
      pass(100);
    }
    const slices = asked.filter((share) => share !== undefined);
    const ranks = new Set(slices.map(({ rank }) => rank));
    expect(ranks.size).toBe(slices[0]?.of);
    expect(slices.length).toBeLessThan(75);
  }
});
