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

const SOON = { timeout: 60_000 };

async function order(...command: string[]): Promise<void> {
  await answer(...command);
}

async function answer(...command: string[]): Promise<unknown> {
  const client = redisClient(redis.url);
  await client.connect();
  const reply: unknown = await client.sendCommand(command);
  client.destroy();
  return reply;
}

const BUSY = ["running", "awaiting", "waiting_for_person", "with_person"].map(
  (state) => `busy:{c:${SLUG}}:${state}`,
);

/** As a version leaves it that keeps none of the orders. */
const forget = () =>
  order("DEL", ...["act", "chg", "whose", "bl"].map((kind) => `${kind}:{c:${SLUG}}`), ...BUSY, "filled:{g}");

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

test("the orders by state are filled where those before them were filled already", async () => {
  await populate(store);
  const before = await orders(store);
  while (await store.fillOrders());
  await order("DEL", ...BUSY);
  await order("HDEL", "filled:{g}", `${SLUG} states`);
  // Until then they are looked for among all.
  expect(await orders(store)).toEqual({ ...before, isScanned: false });
  while (await store.fillOrders());
  await expectFilled(store, before);
  expect(await answer("ZCARD", `busy:{c:${SLUG}}:awaiting`)).toBe(6);
});

test("a list takes out who left its state while nobody wrote it down, and puts in who came to it", async () => {
  await populate(store);
  while (await store.fillOrders());
  const [withPerson, awaiting] = [`busy:{c:${SLUG}}:with_person`, `busy:{c:${SLUG}}:awaiting`];
  // As a process leaves it that died, and as an instance of an earlier version does.
  await order("ZADD", withPerson, "9999", "t10");
  await order("ZREM", awaiting, "t20");
  const listed = async () => (await orders(store)).withPerson;
  const there = ["t0", "t40", "t80", "t120", "t160", "t200"];
  expect(await listed()).toEqual(there);
  await expect.poll(() => answer("ZSCORE", withPerson, "t10"), SOON).toBeNull();
  await expect.poll(() => answer("ZSCORE", awaiting, "t20"), SOON).not.toBeNull();
  expect(await listed()).toEqual(there);
});
