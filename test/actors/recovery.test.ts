import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createRecovery } from "../../src/actors/recovery.ts";
import type { Recovery } from "../../src/actors/recovery.ts";
import { systemClock, systemTimers } from "../../src/clock.ts";

/** P9: when a process beats, and when it takes another one for gone. Time is set. */
interface Instance {
  recovery: Recovery;
  /** How long its next beat takes. */
  delay: (ms: number) => void;
  /** Silences that it asked for, beat by beat. */
  asked: number[];
  /** Threads that it took, each time that it looked. */
  taken: string[];
}

/** One that is told at every beat that `gone` is silent, which holds a thread. */
function instance(take: () => Promise<void> = () => Promise.resolve()): Instance {
  const asked: number[] = [];
  const taken: string[] = [];
  let delayMs = 0;
  const recovery = createRecovery({
    store: {
      processId: "self",
      async beat(ttlMs) {
        asked.push(ttlMs);
        const ms = delayMs;
        delayMs = 0;
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
        return ["gone"];
      },
      heldBy: (holder) => Promise.resolve(holder === "gone" ? [{ uid: "t1", fence: "gone:a" }] : []),
      forget: () => Promise.resolve(),
      due: () => Promise.resolve([]),
    },
    clock: systemClock,
    timers: systemTimers,
    log: { info() {}, warn() {}, error() {} },
    isOurs: () => false,
    takeUp: {
      take(uid) {
        taken.push(uid);
        return take();
      },
      expire: () => Promise.resolve(),
      leftAlone: () => new Set(),
    },
  });
  return { recovery, delay: (ms) => void (delayMs = ms), asked, taken };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("takes up what a silent process holds, at its first look", async () => {
  const { recovery, taken } = instance();
  await recovery.start();
  recovery.stop();
  expect(taken).toEqual(["t1"]);
  expect(recovery.isSilent("gone")).toBe(true);
});

it("beats while a look takes for ever", async () => {
  const { recovery, asked } = instance(() => new Promise(() => {}));
  void recovery.start();
  await vi.advanceTimersByTimeAsync(3_000);
  recovery.stop();
  expect(asked.length).toBeGreaterThan(7);
});

it("takes nobody for gone after it was held up itself, until the others had time to speak", async () => {
  const { recovery, delay, taken } = instance();
  await recovery.start();
  await vi.advanceTimersByTimeAsync(1_000);
  delay(2_000);
  await vi.advanceTimersByTimeAsync(2_400);
  expect(recovery.isSilent("gone")).toBe(false);
  const before = taken.length;
  await vi.advanceTimersByTimeAsync(700);
  expect(taken.length).toBe(before);
  await vi.advanceTimersByTimeAsync(1_500);
  recovery.stop();
  expect(taken.length).toBeGreaterThan(before);
});

it("gives the others as much more time as it was late itself, never more than three seconds, and forgives", async () => {
  const { recovery, delay, asked } = instance();
  await recovery.start();
  delay(1_000);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(Math.max(...asked)).toBeGreaterThan(2_300);
  expect(Math.max(...asked)).toBeLessThan(2_700);
  delay(60_000);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(Math.max(...asked)).toBe(4_500);
  await vi.advanceTimersByTimeAsync(60_000);
  recovery.stop();
  expect(asked.at(-1)).toBeLessThan(1_600);
});
