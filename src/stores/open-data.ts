import { statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../clock.ts";
import { retrying } from "./backup/retrying.ts";
import type { StoreData } from "./backup/store-data.ts";
import type { Engine } from "./engine.ts";
import { compactFile } from "./engines/lmdb/compact.ts";
import { openLmdbEngine } from "./engines/lmdb/engine.ts";
import { textOf } from "./engines/redis/answers.ts";
import { openRedisEngine } from "./engines/redis/open.ts";
import type { RedisOptions } from "./engines/redis/open.ts";
import type { RedisLink } from "./engines/redis/link.ts";
import { rewriteAppendOnlyFiles } from "./engines/redis/rewrite-append-only-files.ts";
import { tables } from "./tables.ts";

/** An instance counts as alive if it has beaten within this time; instances beat several times a second. */
const ALIVE_MS = 5_000;

const sizeIn = (dataDir: string) => Promise.resolve(statSync(join(dataDir, "store", "data.mdb")).size);

/** The embedded store's data, lent by the service that has the file open. */
export function servedData(engine: Engine, dataDir: string): StoreData {
  return {
    engine: retrying(engine),
    reading: (use) => use(engine),
    instances: () => Promise.resolve(1),
    bytes: () => sizeIn(dataDir),
    compact: () => Promise.reject(new Error(`Cannot lock ${dataDir}: another process serves it`)),
    close: () => engine.close(),
  };
}

/** The embedded store's data, for who holds its lock. */
export async function openEmbeddedData(dataDir: string): Promise<StoreData> {
  const engine = await openLmdbEngine({ dataDir, clock: systemClock });
  return {
    engine: retrying(engine),
    async reading(use) {
      const moment = engine.readMoment();
      try {
        return await use(moment);
      } finally {
        moment.close();
      }
    },
    instances: () => Promise.resolve(0),
    bytes: () => sizeIn(dataDir),
    async compact() {
      await engine.close();
      return compactFile(dataDir);
    },
    close: () => engine.close(),
  };
}

/** The data of a Redis, or of a cluster. */
export async function openRedisData(options: RedisOptions): Promise<StoreData> {
  const opened = await openRedisEngine(options);
  const engine = retrying(opened.engine);
  return {
    engine,
    reading: (use) => use(engine),
    instances: () => beating(engine),
    bytes: () => memoryOf(opened.link),
    compact: () => rewriteAppendOnlyFiles(opened.link),
    close: () => engine.close(),
  };
}

/** The stamp of a heartbeat is about its time (steps/instances.ts). */
async function beating(engine: Engine): Promise<number> {
  await engine.readTime();
  const sinceMs = (engine.timeMs() ?? 0) - ALIVE_MS;
  const [alive] = await engine.read([{ read: "number", key: tables.instances.key, from: sinceMs }]);
  return alive;
}

/** The memory used by all primaries; null if one may not be asked. */
async function memoryOf(link: RedisLink): Promise<number | null> {
  try {
    const sections = await Promise.all(
      link.shards().map(async ({ server }) => textOf(await server.order("INFO", "memory"))),
    );
    return sections.reduce((sum, text) => sum + Number(/^used_memory:(\d+)/m.exec(text)?.[1]), 0);
  } catch {
    return null;
  }
}
