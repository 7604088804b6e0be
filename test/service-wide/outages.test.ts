import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { STORE_DEADLINE_MS } from "../../src/store.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { ORIGIN, SECRET_KEY } from "../http/service.ts";
import { startRedis } from "../support/redis-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { TEST_KEY } from "../support/service.ts";
import type { Asking, Got } from "./ask.ts";
import { LISTENERS, openWhole } from "./open-whole.ts";
import type { Whole } from "./open-whole.ts";

/** The store's deadline, and what a busy machine adds. */
const IN_TIME_MS = STORE_DEADLINE_MS + 1_500;

/** A second, and what a busy machine adds. */
const BACK_SOON = { timeout: 2_000, interval: 50 };

/** A good request of every route that asks the store. */
function everyRoute(token: string, threadId: string): Asking[] {
  const server = (path: string, body: object, key = TEST_KEY): Asking => ({
    method: "POST",
    path,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const widget = (method: string, path: string, body?: object): Asking => ({
    method,
    path: `/v1/widget/${path}`,
    headers: { origin: ORIGIN, "x-visitor-token": token, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const page = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
  return [
    server("/v1/messages", { threadId: "t", userId: "u", text: "x" }),
    server("/v1/messages/cancel", { threadId: "t", userId: "u" }),
    server("/v1/access", { channel: "cli", externalUserId: "u" }),
    server("/v1/channels/shop/identify", { visitorToken: token, externalUserId: "a" }, SECRET_KEY),
    { method: "POST", path: "/v1/widget/visitors", headers: page },
    widget("POST", "threads"),
    widget("GET", `threads/${threadId}/messages`),
    widget("GET", `threads/${threadId}/stream`),
    widget("POST", `threads/${threadId}/cancel`),
    widget("POST", "messages", { threadId, text: "x" }),
    widget("POST", "tools", { threadId, webmcpTools: [] }),
    widget("POST", "tool-results", { threadId, callId: "c", tool: "t", result: 1 }),
  ];
}

interface Told {
  path: string;
  status: number;
  headers: Got["headers"];
  text: string;
}

/** What each route answers, asked at once. */
async function answersOf(whole: Whole, routes: Asking[]): Promise<Told[]> {
  return await Promise.all(
    routes.map(async (asking) => {
      const { status, headers, text } = await whole.ask(asking);
      return { path: asking.path, status, headers, text };
    }),
  );
}

/** Every route says so in the same way. */
function unavailable(routes: Asking[]): Told[] {
  const empty = { "cache-control": "no-store", "content-length": "0", "retry-after": "1" };
  const readable = {
    vary: "Origin",
    "access-control-allow-origin": ORIGIN,
    "access-control-expose-headers": "retry-after",
  };
  return routes.map(({ path }) => ({
    path,
    status: 503,
    headers: path.startsWith("/v1/widget/") ? { ...empty, ...readable } : empty,
    text: "",
  }));
}

/** The statuses that say that something is out of order. */
async function outages(whole: Whole, routes: Asking[]): Promise<number[]> {
  const answers = await answersOf(whole, routes);
  return answers.map(({ status }) => status).filter((status) => status >= 500);
}

async function health(whole: Whole): Promise<unknown[]> {
  const got = await whole.ask({ path: "/health" });
  return [got.status, (got.json() as { status: string }).status];
}

/** Requests that ended in an error of ours. */
function bugs(whole: Whole): string[] {
  return whole.logged.filter((line) => line.includes('"status":500'));
}

describe.each(LISTENERS)("P24: without its store, on %s", (listener) => {
  test("the embedded store closed: every route is 503 at once", async () => {
    const whole = await openWhole({ listener });
    try {
      const token = await whole.newToken();
      const routes = everyRoute(token, await whole.newThread(token));
      expect(await outages(whole, routes)).toEqual([]);
      await whole.store.close();
      expect(await answersOf(whole, routes)).toEqual(unavailable(routes));
      expect(await health(whole)).toEqual([503, "unavailable"]);
      expect(bugs(whole)).toEqual([]);
    } finally {
      await whole.close();
    }
  });

  describe("on Redis", () => {
    let redis: RedisServer;
    let store: Store;
    let whole: Whole;
    let routes: Asking[];
    beforeAll(async () => {
      redis = await startRedis();
      store = await openRedisStore({
        urls: [redis.url],
        durability: "local",
        clock: systemClock,
        log: { warn() {} },
      });
      whole = await openWhole({ listener, store });
      const token = await whole.newToken();
      routes = everyRoute(token, await whole.newThread(token));
    });
    afterAll(async () => {
      redis.resume();
      await whole.close();
      await store.close();
      await redis.stop();
    });

    test.each([
      ["killed, and started again", () => redis.kill9(), () => redis.restart()],
      ["stopped in its tracks, and let go on", async () => redis.pause(), async () => redis.resume()],
    ])("that is %s: 503 within the deadline, and service within a second", async (_what, away, back) => {
      await expect.poll(() => outages(whole, routes), BACK_SOON).toEqual([]);
      const calls = whole.model.requests.length;
      await away();
      const beganAt = performance.now();
      expect(await answersOf(whole, routes)).toEqual(unavailable(routes));
      expect(performance.now() - beganAt).toBeLessThan(IN_TIME_MS);
      expect(await health(whole)).toEqual([503, "unavailable"]);
      expect(whole.model.requests).toHaveLength(calls);
      await back();
      await expect.poll(() => outages(whole, routes), BACK_SOON).toEqual([]);
      expect(await health(whole)).toEqual([200, "ok"]);
      expect(bugs(whole)).toEqual([]);
    });
  });
});
