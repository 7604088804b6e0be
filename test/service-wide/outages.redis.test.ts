// For src/stores/redis.ts, src/stores/deadline.ts, src/start/
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { STORE_DEADLINE_MS } from "../../src/store.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { isFull } from "../faults/lengths.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import type { RedisServer } from "../support/stores/redis-server.ts";
import type { Asking } from "./clients/ask.ts";
import { answersOf, bugs, everyRoute, health, outages, unavailable } from "./clients/every-route.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import { openWhole } from "./clients/open-whole.ts";
import type { Whole } from "./clients/open-whole.ts";

/** The store's deadline, and the rest; asserted at full length alone, on a machine that does nothing else. */
const IN_TIME_MS = isFull ? STORE_DEADLINE_MS + 500 : Infinity;
const BACK_SOON = isFull ? { timeout: 1_500 } : {};

describeEachListener("P24: without its Redis", (listener) => {
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
    // As it was at most a second ago.
    await expect.poll(() => health(whole), BACK_SOON).toEqual([200, "ok"]);
    expect(bugs(whole)).toEqual([]);
  });
});
