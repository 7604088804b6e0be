// For src/threads/recover/recovery.ts, src/threads/recover/silence.ts
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRecovery } from "../../../src/threads/recover/recovery.ts";
import type { Recovery } from "../../../src/threads/recover/recovery.ts";
import { createSilence } from "../../../src/threads/recover/silence.ts";
import { systemClock, systemTimers } from "../../../src/clock.ts";
import { RETIRED } from "../../../src/store.ts";
import type { Heartbeat, Share } from "../../../src/store.ts";

/** P9: when a process beats, and when it takes another one for gone. Time is set. */
interface Instance {
  recovery: Recovery;
  /** How long its next beat takes. */
  delay: (ms: number) => void;
  /** Heartbeats of the others, as the store answers them. */
  others: Map<string, string>;
  /** When it beat. */
  beats: number[];
  /** Threads that it took, each time that it looked. */
  taken: string[];
  /** Processes that it forgot, by which heartbeat. */
  forgotten: Heartbeat[];
  /** Its shares of the expired calls, and of the holders. */
  shares: { due: Share[]; holders: Share[] };
  /** Who may hold something, by the store's lists. */
  holders: string[];
  entered: string[][];
  reconnect: () => void;
  /** How often any of its threads might have been lost. */
  suspected: () => number;
}

/** `gone` holds a thread. */
function instance(take: () => Promise<void> = () => Promise.resolve()): Instance {
  const others = new Map<string, string>();
  const [beats, taken, forgotten]: [number[], string[], Heartbeat[]] = [[], [], []];
  const shares: Instance["shares"] = { due: [], holders: [] };
  const holders: string[] = [];
  const entered: string[][] = [];
  let held = [{ uid: "t1", fence: "gone:a" }];
  let delayMs = 0;
  let reconnected = () => {};
  let suspected = 0;
  const recovery = createRecovery({
    store: {
      processId: "self",
      async beat() {
        beats.push(performance.now());
        const ms = delayMs;
        delayMs = 0;
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
        return [...others].map(([processId, stamp]) => ({ processId, stamp }));
      },
      async enter(processIds) {
        entered.push([...processIds]);
        for (const processId of processIds) others.set(processId, "entered");
      },
      async holders(share) {
        shares.holders.push(share);
        return holders;
      },
      heldBy: (holder) => Promise.resolve(holder === "gone" ? held : []),
      async forget(heartbeat) {
        forgotten.push(heartbeat);
        others.delete(heartbeat.processId);
      },
      async due(_atMs, _limit, share) {
        if (share) shares.due.push(share);
        return [];
      },
      onReconnect: (callback) => ((reconnected = callback), () => {}),
    },
    clock: systemClock,
    timers: systemTimers,
    log: { info() {}, warn() {}, error() {} },
    silence: createSilence(systemClock),
    lost: { suspect() {}, suspectAll: () => void suspected++, look: () => Promise.resolve() },
    takeUp: {
      async take(uid) {
        taken.push(uid);
        await take();
        held = [];
      },
      expire: () => Promise.resolve(),
      leftAlone: () => new Set(),
    },
  });
  const delay = (ms: number) => void (delayMs = ms);
  const reconnect = () => reconnected();
  return {
    recovery,
    delay,
    others,
    beats,
    taken,
    forgotten,
    shares,
    holders,
    entered,
    reconnect,
    suspected: () => suspected,
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it("takes up what a process holds whose heartbeat stays as it is, and forgets it by that heartbeat", async () => {
  const { recovery, others, taken, forgotten } = instance();
  others.set("gone", "17");
  await recovery.start();
  await pass(1_400);
  expect([taken, recovery.isSilent("gone")]).toEqual([[], false]);
  await pass(600);
  expect([taken, recovery.isSilent("gone")]).toEqual([["t1"], true]);
  await pass(1_000);
  recovery.stop();
  expect(forgotten).toEqual([{ processId: "gone", stamp: "17" }]);
});

it("takes up at its first look what a process holds that has retired", async () => {
  const { recovery, others, taken } = instance();
  others.set("gone", RETIRED);
  await recovery.start();
  recovery.stop();
  expect(taken).toEqual(["t1"]);
});

it("takes nobody for gone who beats, wherever the store's clock is set", async () => {
  const { recovery, others, taken } = instance();
  await recovery.start();
  const stamps = [9_000_000, 9_000_300, 400, 700, 99_000_000, 99_000_300, 1_000, 1_300];
  for (const stamp of stamps) {
    others.set("gone", String(stamp));
    await pass(1_000);
    expect([taken, recovery.isSilent("gone")]).toEqual([[], false]);
  }
  recovery.stop();
});

it("enters holders that have no heartbeat, and then waits for them as for everybody", async () => {
  const { recovery, others, holders, entered, taken, forgotten } = instance();
  others.set("known", "1");
  holders.push("known", "gone", "self");
  await recovery.start();
  expect(entered).toEqual([["gone"]]);
  await pass(1_400);
  expect(taken).toEqual([]);
  await pass(2_000);
  recovery.stop();
  expect(taken).toEqual(["t1"]);
  expect(forgotten.map(({ processId }) => processId)).toContain("gone");
});

it("looks at its share, by its rank among those that beat", async () => {
  const { recovery, others, shares } = instance();
  for (const other of ["a", "gone", "z"]) others.set(other, "0.1");
  await recovery.start();
  // Of "a", "gone", "self" and "z" all may live; later "gone" is known to be gone.
  expect(shares.holders).toEqual([{ rank: 2, of: 4 }]);
  for (let beats = 0; beats < 20; beats++) {
    for (const other of ["a", "z"]) others.set(other, `${beats}.2`);
    await pass(300);
  }
  recovery.stop();
  expect([shares.due[0], shares.due.at(-1)]).toEqual([
    { rank: 2, of: 4 },
    { rank: 1, of: 3 },
  ]);
});

it("beats three times a second, and twice where a hundred do", async () => {
  const few = instance();
  await few.recovery.start();
  await pass(30_000);
  few.recovery.stop();
  const many = instance();
  for (let other = 0; other < 99; other++) many.others.set(`p${other}`, "1");
  await many.recovery.start();
  await pass(1_200);
  const begun = many.beats.length;
  for (let seconds = 0; seconds < 30; seconds++) {
    for (const other of many.others.keys()) many.others.set(other, `${seconds}.1`);
    await pass(1_000);
  }
  many.recovery.stop();
  expect(few.beats.length).toBeGreaterThan(90);
  expect(few.beats.length).toBeLessThan(115);
  expect(many.beats.length - begun).toBeGreaterThan(60);
  expect(many.beats.length - begun).toBeLessThan(75);
});

it("suspects its threads to be lost after a new connection", async () => {
  const { recovery, reconnect, suspected } = instance();
  await recovery.start();
  reconnect();
  recovery.stop();
  expect(suspected()).toBe(1);
});

it("beats while a look takes for ever", async () => {
  const { recovery, others, beats } = instance(() => new Promise(() => {}));
  others.set("gone", RETIRED);
  void recovery.start();
  await pass(3_000);
  recovery.stop();
  expect(beats.length).toBeGreaterThan(7);
});

it("takes nobody for gone after it was held up itself, until the others had time to speak", async () => {
  const { recovery, others, delay, taken } = instance();
  others.set("gone", "1");
  await recovery.start();
  delay(2_000);
  await pass(2_400);
  expect(recovery.isSilent("gone")).toBe(false);
  await pass(700);
  expect(taken).toEqual([]);
  await pass(2_500);
  recovery.stop();
  expect(taken).toEqual(["t1"]);
});

it("gives the others as much more time as it was late itself, never more than three seconds, and forgives", async () => {
  const { recovery, others, delay } = instance();
  /** How long a heartbeat stays as it is before it is silence. */
  async function toleratedMs(): Promise<number> {
    others.set("other", String(performance.now()));
    for (let ms = 0; ; ms += 100) {
      if (recovery.isSilent("other")) return ms;
      await pass(100);
    }
  }
  await recovery.start();
  delay(1_000);
  await pass(1_500);
  expect(await toleratedMs()).toBeGreaterThan(1_950);
  delay(60_000);
  await pass(60_500);
  const longest = await toleratedMs();
  expect(longest).toBeGreaterThan(2_900);
  expect(longest).toBeLessThan(5_000);
  await pass(60_000);
  expect(await toleratedMs()).toBeLessThanOrEqual(2_300);
  recovery.stop();
});
