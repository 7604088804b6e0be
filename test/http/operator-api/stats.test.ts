// For src/http/operator-api/stats.ts, src/operators/stats/
import { expect, test } from "vitest";
import { peopleName, tookName, waitName } from "../../../src/operators/stats/stats-names.ts";
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

test("what the models cost is told by currency, of days on which a price was known", async () => {
  const { store, items } = await withStats();
  const more = { slug: "shop", day: DAY, by: "p1", nth: 2, visitors: [] };
  await store.addStats({ ...more, counts: { "cost.USD": 1_250_000, "cost.EUR": 40 } });
  const told = await items("auditor", "?channel=shop&from=2026-11-19&to=2026-11-20");
  expect(told).toMatchObject([{ day: "2026-11-19" }, { costs: { USD: 1.25, EUR: 0.000_04 } }]);
  expect(told[0]).not.toHaveProperty("costs");
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

test("how hand-offs went, by queue and operator, as JSON and as a file for spreadsheets", async () => {
  const service = await startOperated();
  const kim = { queue: "returns", by: "kim" };
  const counts = {
    [peopleName({ queue: "returns" }, "asked")]: 3,
    [peopleName({ queue: "returns" }, "missed")]: 1,
    [peopleName(kim, waitName(1_000))]: 2,
    [peopleName(kim, tookName(60_000))]: 2,
    [peopleName(kim, "csat.5")]: 1,
    [peopleName(kim, "csat.4")]: 1,
    [peopleName({ by: '=SUM("a")' }, "unanswered")]: 1,
    messages: 7,
  };
  await service.store.addStats({ slug: "shop", day: DAY, by: "p1", nth: 1, counts, visitors: [] });
  const range = `channel=shop&from=${DAY}&to=${DAY}`;
  const got = await service.as("auditor", "GET", `/reports/people?${range}`);
  const nobody = { taken: 0, ended: 0, waitMsP50: null, tookMsP50: null, ratings: 0, csat: null };
  expect(await got.json()).toMatchObject({
    items: [
      { ...nobody, queue: null, operator: '=SUM("a")', unanswered: 1 },
      { ...nobody, queue: "returns", operator: null, asked: 3, missed: 1 },
      { queue: "returns", operator: "kim", taken: 2, ended: 2, ratings: 2, csat: 4.5 },
    ],
  });
  const csv = await service.as("auditor", "GET", `/reports/people?${range}&format=csv`);
  expect(csv.headers["content-type"]).toBe("text/csv; charset=utf-8");
  const [names, formula, ...more] = (await csv.text()).split("\r\n");
  expect(names).toMatch(/^queue,operator,asked,taken,/);
  expect(formula).toMatch(/^,"'=SUM\(""a""\)",0,/);
  expect(more).toHaveLength(3);
  expect((await service.as("shop-agent", "GET", "/reports/people?channel=other")).status).toBe(403);
  expect((await service.as("admin", "GET", "/reports/people?format=pdf")).status).toBe(422);
});
