import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { redisClient } from "../support/redis-client.ts";
import { startRedis } from "../support/redis-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { UNHURRIED_MS } from "../support/unhurried.ts";
import { expectFilled, orders, populate } from "./unfilled.ts";
import { SLUG } from "./samples.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

let store: Store;
let other: Store;
beforeEach(async () => {
  await order("FLUSHALL");
  const options = { urls: [redis.url], durability: "local" as const, clock: systemClock, log: { warn() {} } };
  [store, other] = (await Promise.all(
    [0, 1].map(() => openRedisStore({ ...options, deadlineMs: UNHURRIED_MS })),
  )) as [Store, Store];
  return () => Promise.all([store.close(), other.close()]);
});

async function order(...command: string[]): Promise<void> {
  const client = redisClient(redis.url);
  await client.connect();
  await client.sendCommand(command);
  client.destroy();
}

/** As a version leaves it that keeps none of the orders. */
const forget = () =>
  order("DEL", ...["act", "chg", "whose", "bl"].map((kind) => `${kind}:{c:${SLUG}}`), "filled:{g}");

test("Redis' orders are filled with what an earlier version wrote, by one instance after the other", async () => {
  await populate(store);
  const before = await orders(store);
  await forget();
  expect((await orders(store)).threads).toEqual([]);
  expect(await store.fillOrders()).toBe(true);
  // One at a time; when that one has stopped, another goes on where it was.
  expect(await other.fillOrders()).toBe(false);
  await order("DEL", "filling:{g}");
  while (await other.fillOrders());
  await expectFilled(store, before);
});

test("a thread that an instance of 0.1.0 made and a newer one spoke in is its user's", async () => {
  await populate(store);
  while (await store.fillOrders());
  // 0.1.0 writes names, and no owner.
  await order("HDEL", `whose:{c:${SLUG}}`, "t10");
  expect(await store.channelThread(SLUG, "t10")).toMatchObject({ userId: "u10", threadId: "order 10" });
});
