// For src/stores/deadline.ts
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDeadline } from "../../../src/stores/deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const late = () => new Error("too late");

/** How a call ends that nobody answers, and after how many ms, by set time. */
async function endOf(call: Promise<unknown>): Promise<{ error: unknown; afterMs: number }> {
  const startedMs = Date.now();
  const ended = call.then(
    () => expect.fail("nobody answered"),
    (error: unknown) => ({ error, afterMs: Date.now() - startedMs }),
  );
  await vi.advanceTimersByTimeAsync(10_000);
  return ended;
}

test("P24: what is not answered is rejected within 2 s, and not before 1.8 s, whenever it began", async () => {
  const deadline = createDeadline();
  for (const beginMs of [0, 1, 99, 150, 199, 730]) {
    void deadline.bound(new Promise(() => {}), late).catch(() => {});
    await vi.advanceTimersByTimeAsync(beginMs);
    const { error, afterMs } = await endOf(deadline.bound(new Promise(() => {}), late));
    expect(error).toEqual(late());
    expect(afterMs).toBeGreaterThanOrEqual(1_800);
    expect(afterMs).toBeLessThanOrEqual(2_000);
  }
});

test("what is answered soon after this process stood still is not late", async () => {
  vi.useRealTimers();
  const deadline = createDeadline(100);
  const bounded = deadline.bound(answerInTurns(), late);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  expect(await bounded).toBe("yes");
});

/** As by a thread that is asked a few times. */
async function answerInTurns(): Promise<string> {
  for (let turn = 0; turn < 4; turn++) await turnOfTheLoop();
  return "yes";
}

test("what is answered settles as its answer does, and leaves no timer behind", async () => {
  const armed = vi.spyOn(globalThis, "setInterval");
  const cleared = vi.spyOn(globalThis, "clearInterval");
  // A length that no other timer of this process has.
  const deadline = createDeadline(1_970);
  expect(await deadline.bound(Promise.resolve("yes"), late)).toBe("yes");
  await expect(deadline.bound(Promise.reject(new Error("no")), late)).rejects.toThrow("no");
  await vi.advanceTimersByTimeAsync(10_000);
  const own = armed.mock.results.filter((_, nth) => armed.mock.calls[nth]?.[1] === 197);
  expect(own).toHaveLength(1);
  expect(cleared).toHaveBeenCalledWith(own[0]?.value);
});
