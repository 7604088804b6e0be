// For src/threads/recover/lost-threads.ts
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { holderOf } from "../../../src/domain/threads/fence.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { bucketOf, tables } from "../../../src/stores/tables.ts";
import type { Store } from "../../../src/store.ts";
import { redisClient } from "../../support/stores/redis-client.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { createInstance, readerOf, says, textOfLines } from "../instance.ts";
import { setTime } from "../set-time.ts";

/** P9: a holder whom nobody knows is a dead one. Its thread is taken up, and whoever waits for it is answered. */
let redis: RedisServer;
let client: Awaited<ReturnType<typeof connect>>;
const stores: Store[] = [];

function connect({ url }: RedisServer) {
  return redisClient(url).connect();
}

beforeAll(async () => {
  redis = await startRedis();
  client = await connect(redis);
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await client.flushAll();
});
afterAll(async () => {
  client.destroy();
  await redis.stop();
});

async function open(): Promise<Store> {
  const store = await openRedisStore({
    urls: [redis.url],
    durability: "local",
    clock: { now: () => Date.now(), elapsed: () => performance.now() },
    log: { warn() {} },
  });
  stores.push(store);
  return store;
}

test("a thread of a dead process whose heartbeats a failover undid is taken up, and its message is answered", async () => {
  const deadStore = await open();
  const dead = createInstance(deadStore, setTime());
  await dead.threads.start();
  await dead.threads.say(says("t1", "Hello"));
  await dead.agent.turn();
  await deadStore.close();
  await client.zRem(tables.instances.key, deadStore.processId);

  const time = setTime();
  const heir = createInstance(await open(), time);
  await heir.threads.start();
  const waits = readerOf(await heir.threads.say(says("t1", "Are you there?")));
  const holder = async () => {
    time.pass(400);
    const fence = (await heir.store.load("t1", 1))?.fence;
    return fence && holderOf(fence);
  };
  await expect.poll(holder, { timeout: 60_000, interval: 5 }).toBe(heir.store.processId);
  (await heir.agent.turn()).finish();
  const turn = await heir.agent.turn();
  expect(turn.turn.text).toBe("Are you there?");
  turn.write("Yes");
  turn.finish();
  expect(textOfLines(await waits.all)).toBe("Yes");
  // The dead one is forgotten in the end.
  const known = async () => {
    time.pass(400);
    return client.zRange(tables.instances.key, 0, -1);
  };
  await expect.poll(known, { timeout: 60_000, interval: 5 }).toEqual([heir.store.processId]);
  expect(await client.hKeys(tables.holders.key(bucketOf("t1")))).toEqual([heir.store.processId]);
  await heir.threads.drain(0);
});

test("a release that a failover undid is found by its own process after the new connection", async () => {
  const store = await open();
  const time = setTime();
  const instance = createInstance(store, time);
  await instance.threads.start();
  const reply = readerOf(await instance.threads.say(says("t1", "Hello")));
  const turn = await instance.agent.turn();
  const keys = await client.keys("*");
  const before = await Promise.all(
    keys.filter((key) => key.includes("{t:")).map(async (key) => ({ key, dump: await dumpOf(key) })),
  );
  turn.write("One");
  turn.finish();
  expect(textOfLines(await reply.all)).toBe("One");
  await expect.poll(() => instance.threads.held()).toBe(0);
  // As a replica had it that takes over now.
  for (const { key } of before) await client.del(key);
  for (const { key, dump } of before) await client.sendCommand(["RESTORE", key, "0", dump] as never);
  expect((await store.load("t1", 1))?.fence).not.toBeNull();
  await client.sendCommand(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
  const again = instance.agent.turn();
  let isTaken = false;
  void again.then(() => (isTaken = true));
  const taken = () => {
    time.pass(400);
    return isTaken;
  };
  await expect.poll(taken, { timeout: 60_000, interval: 5 }).toBe(true);
  const next = await again;
  next.write("One more time");
  next.finish();
  await expect.poll(async () => (await store.load("t1", 1))?.state, { timeout: 60_000 }).toBe("idle");
  await instance.threads.drain(0);
});

async function dumpOf(key: string): Promise<Buffer> {
  return client.withTypeMapping({ [36]: Buffer }).sendCommand<Buffer>(["DUMP", key]);
}
