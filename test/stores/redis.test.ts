import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { startRedis } from "../support/redis-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { describeStore } from "./contract.ts";

const log = { warn() {} };
let redis: RedisServer;
const opened: Store[] = [];

async function open(options: Partial<Parameters<typeof openRedisStore>[0]> = {}): Promise<Store> {
  const store = await openRedisStore({ urls: [redis.url], durability: "local", clock: systemClock, log, ...options });
  opened.push(store);
  return store;
}

/** As a client that is not the store's. */
async function order(...command: string[]): Promise<unknown> {
  const client = createClient({ url: redis.url });
  await client.connect();
  try {
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}

async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((store) => store.close()));
}

beforeAll(async () => {
  redis = await startRedis();
});
afterEach(closeAll);
afterAll(() => redis.stop());

describeStore("Redis", async () => {
  await order("FLUSHALL");
  return {
    store: await open(),
    reopen: () => open(),
    another: () => open(),
    elapse: (ms) => sleep(ms),
    clean: closeAll,
  };
});
