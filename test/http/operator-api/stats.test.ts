// For src/http/operator-api/stats.ts, src/operators/stats/
import { expect, test } from "vitest";
import { dayOf } from "../../../src/domain/day.ts";
import { startOperated } from "./operators-service.ts";

const DAY = "2026-11-20";
const EMPTY = {
  visitors: 0,
  messages: 0,
  runs: { done: 0, failed: 0, cancelled: 0, expired: 0, superseded: 0 },
  inputTokens: 0,
  outputTokens: 0,
  handoffs: 0,
  waitMsP50: null,
  waitMsP90: null,
  thumbsUp: 0,
  thumbsDown: 0,
};

async function withStats() {
  const service = await startOperated();
  const counted = { day: DAY, by: "p1", nth: 1 };
  const shop = { messages: 3, "runs.done": 2, "runs.expired": 1, inputTokens: 900, outputTokens: 80 };
  const waits = { "wait.50": 9, "wait.80": 1 };
  await service.store.addStats({
    ...counted,
    slug: "shop",
    counts: { ...shop, ...waits },
    visitors: ["a", "b"],
  });
  await service.store.addStats({ ...counted, slug: "other", counts: { messages: 7 }, visitors: ["c"] });
  const items = async (name: string, query: string) => {
    const got = await service.as(name, "GET", `/stats${query}`);
    expect(got.status).toBe(200);
    return ((await got.json()) as { items: { day: string }[] }).items;
  };
  return { ...service, items };
}

test("a channel's days, those on which nothing happened too", async () => {
  const { items } = await withStats();
  expect(await items("auditor", "?channel=shop&from=2026-11-19&to=2026-11-21")).toEqual([
    { day: "2026-11-19", ...EMPTY },
    {
      ...EMPTY,
      day: DAY,
      visitors: 2,
      messages: 3,
      runs: { ...EMPTY.runs, done: 2, expired: 1 },
      inputTokens: 900,
      outputTokens: 80,
      waitMsP50: Math.round(1.1 ** 49.5),
      waitMsP90: Math.round(1.1 ** 49.5),
    },
    { day: "2026-11-21", ...EMPTY },
  ]);
});

test("all channels together are those that the operator sees", async () => {
  const { items } = await withStats();
  const day = `?from=${DAY}&to=${DAY}`;
  expect(await items("agent", day)).toMatchObject([{ visitors: 3, messages: 10 }]);
  expect(await items("shop-agent", day)).toMatchObject([{ visitors: 2, messages: 3 }]);
});

test("without days it is the last thirty, and never more than are kept", async () => {
  const { items, clock } = await withStats();
  const last = await items("agent", "");
  expect([last.length, last.at(-1)?.day]).toEqual([30, dayOf(clock.nowMs)]);
  expect(await items("agent", "?from=2001-01-01&to=2026-11-22")).toHaveLength(400);
  expect(await items("agent", "?from=2026-11-22&to=2026-11-21")).toEqual([]);
});

test.each([
  ["shop-agent", "?channel=other", 403],
  ["shop-agent", "?channel=nowhere", 403],
  ["agent", "?channel=nowhere", 404],
  ["agent", "?from=2026-02-30", 422],
  ["agent", "?to=today", 422],
])("%s asks /stats%s: %i", async (name, query, status) => {
  const { as } = await withStats();
  expect((await as(name, "GET", `/stats${query}`)).status).toBe(status);
});
