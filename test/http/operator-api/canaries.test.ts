// For src/http/operator-api/, src/operators/
import { expect, onTestFinished, test } from "vitest";
import type { Route } from "../../../src/http/route.ts";
import { talkInBoth } from "./canary-conversations.ts";
import { startOperated } from "./operators-service.ts";
import { saidBy, walkRoutes } from "./walk-routes.ts";
import type { Answer } from "./walk-routes.ts";

const WITHIN = { timeout: 60_000, interval: 20 };

/** As an operator, by every route of the table: in whatever way a key may be shown. */
async function walked(name: string, { changes = false } = {}) {
  const service = await startOperated();
  const talked = await talkInBoth(service);
  const key = `op_${name}`;
  const headers = {
    authorization: `Bearer ${key}`,
    origin: "https://shop.example",
    "x-visitor-token": key,
    "x-publishable-key": key,
  };
  const isRead = ({ method }: Route) => method === "GET" || method === "OPTIONS";
  const { values } = talked;
  const walk = (routes: Route[]) => walkRoutes(service, routes, { values, headers });
  const answers = await walk(service.routes.filter(isRead));
  if (changes) answers.push(...(await walk(service.routes.filter((route) => !isRead(route)))));
  onTestFinished(() => answers.forEach(({ got }) => got.leave()));
  return { ...service, ...talked, answers };
}

const leaksOf = (answers: readonly Answer[], words: readonly string[]) =>
  answers.flatMap((answer) => {
    const said = saidBy(answer);
    return words
      .filter((word) => said.includes(word.toLowerCase()))
      .map((word) => `${answer.asked} says ${word}`);
  });

test("an admin's walk meets every text: so there is something to be kept from others", async () => {
  const { answers, texts, otherWord } = await walked("admin");
  const words = [...Object.values(texts), otherWord];
  const unmet = () => words.filter((word) => !answers.some((answer) => saidBy(answer).includes(word)));
  // What the model alone is told, and a fault, which is told in words of the service's own.
  const never = [texts["toolResult"], texts["fault"], texts["note"]];
  await expect.poll(() => unmet().filter((word) => !never.includes(word)), WITHIN).toEqual([]);
});

test("an auditor reads no text of anybody by any route", async () => {
  const { answers, texts, otherWord } = await walked("auditor", { changes: true });
  const inOther = Object.values(texts).map((word) => word.replace("canaryshop", otherWord));
  expect(leaksOf(answers, [...Object.values(texts), ...inOther])).toEqual([]);
  // Nor does it learn that a name is there: who it searches for is found by an id alone.
  const searched = answers.filter(({ asked }) => /\/users\?q=canaryshop/.test(asked));
  expect(searched.length).toBeGreaterThan(0);
  for (const { got } of searched) expect(await got.json()).toEqual({ items: [], next: null });
  const changed = answers.filter(({ route, got }) => !route.startsWith("GET ") && got.status < 400);
  expect([...new Set(changed.map(({ route }) => route))]).toEqual(["OPTIONS /v1/widget/*"]);
});

test.each(["shop-admin", "shop-agent", "shop-auditor"])(
  "%s, limited to a channel, learns nothing of another one by any route",
  async (name) => {
    const { answers, otherWord, otherIds, texts } = await walked(name, { changes: true });
    expect(leaksOf(answers, [otherWord, ...otherIds])).toEqual([]);
    if (name === "shop-auditor") expect(leaksOf(answers, Object.values(texts))).toEqual([]);
    const own = answers.filter(({ route, got }) => route.includes("/v1/operator/") && got.status === 200);
    expect(own.some(({ asked }) => asked.includes("/channels/shop/threads"))).toBe(true);
    expect(own.filter(({ asked }) => asked.includes("/channels/other"))).toEqual([]);
  },
);
