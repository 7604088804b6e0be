// For src/operators/stats/
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nobody } from "../../src/threads/dependencies.ts";
import type { Agent, TurnEnd } from "../../src/agent.ts";
import { createStatCounts } from "../../src/operators/stats/count-stats.ts";
import { waitAt, waitName } from "../../src/operators/stats/stats-names.ts";
import { StoreUnavailable } from "../../src/store.ts";
import type { CountedStats } from "../../src/store.ts";
import { createReference } from "../stores/twin/reference.ts";
import { sampleRun } from "../stores/samples.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY = "2026-11-22";
const days = { from: "2026-11-21", to: "2026-11-23" };

beforeEach(() => void vi.useFakeTimers({ now: NOON, toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

function opened() {
  const clock = { now: () => Date.now(), elapsed: () => Date.now() };
  const store = createReference(clock);
  const sent: CountedStats[] = [];
  let isAway = false;
  const warned: string[] = [];
  const counts = createStatCounts({
    store: {
      ...store,
      async addStats(counted) {
        sent.push(counted);
        // An answer that is lost: it was added.
        await store.addStats(counted);
        if (isAway) throw new StoreUnavailable("count");
      },
    },
    processId: "p1",
    clock,
    log: { warn: (_: object, text: string) => void warned.push(text) },
  });
  return { store, sent, counts, warned, setAway: (away: boolean) => (isAway = away) };
}

const moved = { slug: "shop", uid: "t", runId: "r", rev: 1, lines: [] };
const move = { atMs: NOON, event: "user.said", state: "running.thinking", said: [] };

test("messages, their users and runs are added up and written once a second", async () => {
  const { counts, store, sent } = opened();
  const observer = counts.observer(nobody);
  for (const userId of ["a", "b", "a"]) observer.moved({ ...moved, move, said: { userId } });
  observer.moved({ ...moved, move });
  observer.runEnded({ slug: "shop", runId: "r", outcome: "done", elapsedMs: 5 });
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toHaveLength(1);
  expect(await store.stats("shop", days)).toEqual([
    { day: DAY, counts: { messages: 3, "runs.done": 1 }, visitors: 2 },
  ]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toHaveLength(1);
});

test("thumbs of a day: the latest of each reply, and what an earlier day was given stays", async () => {
  const { counts, store } = opened();
  const observer = counts.observer(nobody);
  const [yesterday, up, down] = [
    { rating: "up" as const, atMs: NOON - 86_400_000 },
    { rating: "up" as const, atMs: NOON },
    { rating: "down" as const, atMs: NOON },
  ];
  const shop = { slug: "shop", atMs: NOON };
  const given = [
    { before: null, feedback: up },
    { before: up, feedback: down },
    { before: null, feedback: up },
    { before: up, feedback: { ...up, comment: "Very good" } },
    { before: null, feedback: down },
    { before: down, feedback: null },
    { before: yesterday, feedback: down },
  ];
  for (const one of given) observer.rated?.({ ...shop, ...one });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await store.stats("shop", days)).toMatchObject([
    { day: DAY, counts: { thumbsUp: 1, thumbsDown: 2 } },
  ]);
});

test("tokens of each turn, and the wait for a run's first text", async () => {
  const { counts, store } = opened();
  const end: TurnEnd = {
    type: "finished",
    item: { type: "assistant", text: "Hello", calls: [] },
    usage: { input: 100, output: 7 },
  };
  const played: Agent = {
    async think(_turn, wrote, _signal, onAsked) {
      onAsked?.(
        () => ({ input: 100, output: 7 }),
        () => ({ currency: "USD", micros: 39 }),
      );
      await wrote("Hello");
      return end;
    },
    useTool: () => Promise.reject(new Error("No tool")),
    close: () => Promise.resolve(),
  };
  const agent = counts.agent(played);
  const turn = { slug: "shop", text: "Hi", before: [], catalog: [], traceparent: null };
  const run = sampleRun("r1", { saidAtMs: NOON, lines: [] });
  const { signal } = new AbortController();
  expect(await agent.think({ ...turn, run }, () => undefined, signal)).toBe(end);
  await agent.think({ ...turn, run }, () => undefined, signal);
  counts.observer(nobody).firstText?.({ slug: "shop", waitedMs: 500 });
  await counts.stop();
  expect(await store.stats("shop", days)).toMatchObject([
    { counts: { inputTokens: 200, outputTokens: 14, "cost.USD": 78, [waitName(500)]: 1 } },
  ]);
});

test("what was sent and not answered counts once, and the rest waits for it", async () => {
  const { counts, store, sent, warned, setAway } = opened();
  setAway(true);
  counts.add("shop", { messages: 1 }, "a");
  await vi.advanceTimersByTimeAsync(1_000);
  for (let nth = 0; nth < 50; nth++) counts.add("shop", { messages: 1 }, "b");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(new Set(sent.map(({ nth }) => nth))).toEqual(new Set([1]));
  expect(warned).toHaveLength(1);
  setAway(false);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await store.stats("shop", days)).toEqual([{ day: DAY, counts: { messages: 51 }, visitors: 2 }]);
});

test("each day has its own count", async () => {
  const { counts, store } = opened();
  counts.add("shop", { messages: 1 });
  vi.setSystemTime(NOON + 86_400_000);
  counts.add("shop", { messages: 2 });
  await counts.stop();
  expect(await store.stats("shop", days)).toMatchObject([
    { day: DAY, counts: { messages: 1 } },
    { day: "2026-11-23", counts: { messages: 2 } },
  ]);
});

test("waits are told within 5 %, and of nobody's there is none", () => {
  expect(waitAt(0.5, { messages: 3 })).toBeNull();
  for (const ms of [1, 3, 40, 999, 12_345, 600_000]) {
    const told = waitAt(0.9, { [waitName(ms)]: 3 }) ?? 0;
    expect(Math.abs(told - ms) / ms).toBeLessThan(ms < 20 ? 0.5 : 0.06);
  }
  const counts = { [waitName(100)]: 80, [waitName(5_000)]: 20 };
  expect(Math.round((waitAt(0.8, counts) ?? 0) / 100)).toBe(1);
  expect(Math.round((waitAt(0.81, counts) ?? 0) / 1_000)).toBe(5);
});
