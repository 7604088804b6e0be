import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import type { RedisCluster } from "../support/redis-cluster.ts";
import { describeStore } from "./contract.ts";
import { SLUG, sampleChannel, sampleCommit, sampleMessage } from "./samples.ts";

const log = { warn() {} };
let cluster: RedisCluster;
const opened: Store[] = [];

async function open(): Promise<Store> {
  const store = await openRedisStore({ urls: cluster.urls, durability: "local", clock: systemClock, log });
  opened.push(store);
  return store;
}

/** As a client that is not the store's; answers by node. */
async function orderEach(...command: string[]): Promise<unknown[]> {
  return Promise.all(
    cluster.nodes.map(async ({ url }) => {
      const client = createClient({ url });
      await client.connect();
      try {
        return await client.sendCommand(command);
      } finally {
        client.destroy();
      }
    }),
  );
}

async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((store) => store.close()));
}

beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterEach(closeAll);
afterAll(() => cluster.stop());

describeStore("Redis Cluster", async () => {
  await orderEach("FLUSHALL");
  return {
    store: await open(),
    reopen: () => open(),
    another: () => open(),
    elapse: (ms) => sleep(ms),
    clean: closeAll,
  };
});

describe("on a cluster", () => {
  it("the threads of one channel spread over all nodes", async () => {
    await orderEach("FLUSHALL");
    const store = await open();
    await store.putChannel(sampleChannel());
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        store.commit(
          sampleCommit({
            uid: `thread-${i}`,
            opId: `claim-${i}`,
            fence: `${store.processId}:${i}`,
            slug: SLUG,
            messages: [sampleMessage(1)],
          }),
        ),
      ),
    );
    const headers = (await orderEach("KEYS", "h:*")) as string[][];
    const counts = headers.map((keys) => keys.length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(300);
    for (const count of counts) expect(count).toBeGreaterThan(50);
    expect(await store.heldBy(store.processId)).toHaveLength(300);
  });
});
