import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Clock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { encryptedForAnybodyInFull } from "./content-keys.ts";
import { redisClient } from "./redis-client.ts";
import { startRedis } from "./redis-server.ts";
import { UNHURRIED_MS } from "../unhurried.ts";

/** Where an implementation's data lie: any number of stores may be opened on it, one after another or, on Redis, at once. */
export interface TestDatabase {
  open(clock?: Clock): Promise<Store>;
  /** Empties it. */
  clear(): Promise<void>;
  remove(): Promise<void>;
}

const PREPARE = { embedded: prepareFolder, redis: prepareRedis };

/** Suites that hold for either implementation run over this: in each project on the stores that it has. */
export const storeKinds = inject("stores").map((name) => ({ name, prepare: PREPARE[name] }));

export async function prepareFolder(): Promise<TestDatabase> {
  let dataDir = await mkdtemp(join(tmpdir(), "chat-agent-"));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  return {
    open: (clock = systemClock) => openEmbeddedStore({ dataDir, clock, ...encryptedForAnybodyInFull }),
    async clear() {
      await remove();
      dataDir = await mkdtemp(join(tmpdir(), "chat-agent-"));
    },
    remove,
  };
}

export async function prepareRedis(): Promise<TestDatabase> {
  const redis = await startRedis();
  return {
    open: (clock = systemClock) =>
      openRedisStore({
        urls: [redis.url],
        durability: "local",
        clock,
        log: { warn() {} },
        deadlineMs: UNHURRIED_MS,
        ...encryptedForAnybodyInFull,
      }),
    async clear() {
      const client = redisClient(redis.url);
      await client.connect();
      await client.flushAll();
      client.destroy();
    },
    remove: () => redis.stop(),
  };
}
