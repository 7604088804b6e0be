import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { ageRedis } from "../support/age-redis.ts";
import { encryptedForAnybody, isEncryptedInFull } from "../support/content-keys.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { redisClient } from "../support/redis-client.ts";
import { startRedis } from "../support/redis-server.ts";
import { UNHURRIED_MS } from "../support/unhurried.ts";
import { describeStore } from "./contract.ts";
import { messageClaimPromises } from "./contract-message-claim.ts";

/** The store's contract with encrypted contents; in the suite what a Redis is asked to compare, with ENCRYPTED=full all of it. */
const promises = isEncryptedInFull ? undefined : [messageClaimPromises];

interface Servers {
  urls: string[];
  stop(): Promise<void>;
}

async function startOne(): Promise<Servers> {
  const redis = await startRedis();
  return { urls: [redis.url], stop: () => redis.stop() };
}

function describeEncrypted(name: string, start: () => Promise<Servers>): void {
  describe(`on ${name}`, () => {
    let servers: Servers;
    const opened: Store[] = [];

    async function open(): Promise<Store> {
      const store = await openRedisStore({
        urls: servers.urls,
        durability: "local",
        clock: systemClock,
        log: { warn() {} },
        deadlineMs: UNHURRIED_MS,
        ...encryptedForAnybody(),
      });
      opened.push(store);
      return store;
    }

    async function closeAll(): Promise<void> {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    }

    async function empty(url: string): Promise<void> {
      const client = redisClient(url);
      await client.connect();
      await client.flushAll();
      client.destroy();
    }

    beforeAll(async () => {
      servers = await start();
    });
    afterEach(closeAll);
    afterAll(() => servers.stop());

    describeStore(
      "the store with encrypted contents",
      async () => {
        await Promise.all(servers.urls.map(empty));
        return {
          store: await open(),
          reopen: open,
          another: open,
          elapse: (ms) => ageRedis(servers.urls, ms),
          clean: closeAll,
        };
      },
      { promises },
    );
  });
}

describeEncrypted("Redis", startOne);
if (isEncryptedInFull) describeEncrypted("Redis Cluster", startRedisCluster);
