// For src/stores/content-keys/, src/stores/sealing.ts
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { encryptedForAnybody, isEncryptedInFull } from "../../support/stores/content-keys.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { UNHURRIED_MS } from "../../support/unhurried.ts";
import { describeStore } from "../contract/contract.ts";
import { messageClaimPromises } from "../contract/message-claim.ts";
import { redisStores } from "../redis/open-redis.ts";

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
    const options = { deadlineMs: UNHURRIED_MS, ...encryptedForAnybody() };
    const { closeAll, openForTest } = redisStores(() => servers.urls, options);
    beforeAll(async () => {
      servers = await start();
    });
    afterEach(closeAll);
    afterAll(() => servers.stop());
    describeStore("the store with encrypted contents", openForTest, { promises });
  });
}

describeEncrypted("Redis", startOne);
if (isEncryptedInFull) describeEncrypted("Redis Cluster", startRedisCluster);
