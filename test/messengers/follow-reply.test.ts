// For src/messengers/follow-reply.ts
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { Line } from "../../machines/line.ts";
import { systemClock, systemTimers } from "../../src/clock.ts";
import { followReply } from "../../src/messengers/follow-reply.ts";

function opened(said: Line[]) {
  let left = 0;
  const stopping = new AbortController();
  const reply = {
    runId: "r",
    read: (take: (lines: Line[]) => void) => take(said),
    leave: () => void (left += 1),
  };
  const threads = { followRun: () => Promise.resolve(reply) };
  const dependencies = { threads, clock: systemClock, timers: systemTimers, signal: stopping.signal };
  const follow = (grown: () => Promise<void> = () => Promise.resolve()) =>
    followReply(dependencies, { uid: "u", runId: "r" }, { grown, stillRuns() {}, everyMs: 1 });
  const after = () => ({ left, waiting: getEventListeners(stopping.signal, "abort").length });
  return { follow, stopping, after };
}

const DELTA: Line = { type: "delta", text: "Hello" };
const DONE: Line = { type: "done", elapsedMs: 1 };

test("a run that has ended is left, and nothing of it waits for the stop of the service", async () => {
  const { follow, after } = opened([DELTA, DONE]);
  expect(await follow()).toBe("Hello");
  expect(after()).toEqual({ left: 1, waiting: 0 });
});

test("and so is one whose text cannot be shown", async () => {
  const { follow, after } = opened([DELTA]);
  await expect(follow(() => Promise.reject(new Error("taken over")))).rejects.toThrow("taken over");
  expect(after()).toEqual({ left: 1, waiting: 0 });
});

test("and one that still runs when the service stops", async () => {
  const { follow, stopping, after } = opened([DELTA]);
  const following = follow();
  await Promise.resolve();
  stopping.abort(new Error("The service is stopping"));
  await expect(following).rejects.toThrow("The service is stopping");
  expect(after()).toEqual({ left: 1, waiting: 0 });
});
