import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import type { SealingOptions } from "../../../src/stores/steps/codec.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { redisClient } from "../../support/stores/redis-client.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { UNHURRIED_MS } from "../../support/unhurried.ts";

/** A store whose files the test looks into. */
export interface StoreWithFiles {
  /** Any number of times; closed with the test. */
  open(sealing?: SealingOptions): Promise<Store>;
  /** Settings by which a command finds it. */
  env: Record<string, string>;
  /** Everything that is on the disk, and in Redis' memory. */
  bytes(): Promise<Buffer>;
}

const PREPARE = { embedded: embeddedFiles, redis: redisFiles };

export const storesWithFiles = inject("stores").map((name) => ({ name, prepare: PREPARE[name] }));

async function embeddedFiles(): Promise<StoreWithFiles> {
  const dataDir = temporaryFolder();
  return {
    async open(sealing) {
      const store = await openEmbeddedStore({ dataDir, clock: systemClock, ...sealing });
      onTestFinished(() => store.close());
      return store;
    },
    env: { DATA_DIR: dataDir },
    bytes: async () => filesIn(join(dataDir, "store")),
  };
}

async function redisFiles(): Promise<StoreWithFiles> {
  const redis = await startRedis({ args: ["--appendfsync", "always", "--rdbcompression", "no"] });
  onTestFinished(() => redis.stop());
  return {
    async open(sealing) {
      const store = await openRedisStore({
        urls: [redis.url],
        durability: "local",
        clock: systemClock,
        log: { warn() {} },
        deadlineMs: UNHURRIED_MS,
        ...sealing,
      });
      onTestFinished(() => store.close());
      return store;
    },
    env: { REDIS_URL: redis.url },
    async bytes() {
      const client = redisClient(redis.url);
      await client.connect();
      // What is in memory, as its own snapshot has it; the append-only file has every step since the start.
      await client.sendCommand(["SAVE"]);
      client.destroy();
      return filesIn(redis.dir);
    },
  };
}

function filesIn(dir: string): Buffer {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Buffer.concat(files.map((file) => readFileSync(join(file.parentPath, file.name))));
}
