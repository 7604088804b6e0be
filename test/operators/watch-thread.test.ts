// For src/operators/accounts/sight.ts, src/operators/threads/watch-thread.ts
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createReply } from "../../src/threads/hold/reply.ts";
import type { Sight } from "../../src/operators/accounts/sight.ts";
import { watchThread } from "../../src/operators/threads/watch-thread.ts";
import { StoreUnavailable } from "../../src/store.ts";
import type { ThreadRecord } from "../../src/store.ts";
import { sampleRun } from "../stores/samples.ts";

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }),
);
afterEach(() => void vi.useRealTimers());

const record: ThreadRecord = {
  uid: "t1",
  slug: "shop",
  rev: 1,
  lastOp: null,
  fence: "A:1",
  state: "running",
  snapshot: null,
  catalog: [],
  catalogId: null,
  run: sampleRun("r1"),
  tail: [],
  messageCount: 0,
  waitingCount: 0,
};

/** A watch of a thread that is loaded so, 2.5 s after its begin. */
async function openWatch(load: () => Promise<ThreadRecord | null>) {
  const sights: Sight[] = [];
  const seen = { loads: 0, readersLeft: 0 };
  const watched = watchThread(
    {
      store: {
        load: () => {
          seen.loads += 1;
          return load();
        },
        runs: () => Promise.resolve([]),
      },
      threads: { follow: () => Promise.resolve(createReply("r1", () => void seen.readersLeft++)) },
      log: { info() {}, warn() {}, error() {} },
    },
    "t1",
    (sight) => sights.push(sight),
  );
  await vi.advanceTimersByTimeAsync(2_500);
  return { sights, seen, watched };
}

test("a watch that is stopped lets go of everything: its reading along, its polls and its beats end", async () => {
  const { sights, seen, watched } = await openWatch(() => Promise.resolve(record));
  expect(seen).toEqual({ loads: 3, readersLeft: 0 });
  const told = sights.length;
  watched.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual({ loads: 3, readersLeft: 1 });
  expect(sights).toHaveLength(told);
});

test("what stays as it was is told once, and beats keep the stream open", async () => {
  const { sights } = await openWatch(() => Promise.resolve(record));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sights.map(({ type }) => type)).toEqual(["thread", "runs", "runs", "beat", "beat"]);
});

test("a thread without a message is untouched, and a store that is away is told of until it is back", async () => {
  const untouched = await openWatch(() => Promise.resolve(null));
  expect(untouched.sights).toEqual([{ type: "untouched" }]);
  let isAway = true;
  const { sights } = await openWatch(() =>
    isAway ? Promise.reject(new StoreUnavailable("away")) : Promise.resolve(record),
  );
  expect(sights).toEqual([{ type: "trouble", message: "The store does not answer" }]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sights.map(({ type }) => type)).toEqual(["trouble", "thread", "runs", "runs"]);
});
