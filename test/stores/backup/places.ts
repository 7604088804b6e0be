import { inject, onTestFinished } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import type { StoreData } from "../../../src/stores/backup/store-data.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import type { Engine } from "../../../src/stores/engine.ts";
import { openLmdbEngine } from "../../../src/stores/engines/lmdb/engine.ts";
import { openRedisEngine } from "../../../src/stores/engines/redis/open.ts";
import { openEmbeddedData, openRedisData } from "../../../src/stores/open-data.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { dumpEngine } from "../dump-engine.ts";
import type { StoreEnv } from "./copy.ts";

export type PlaceKind = "embedded" | "redis" | "cluster";

/** Where a store can be, empty at first. */
export interface StorePlace {
  kind: PlaceKind;
  env: StoreEnv;
  open(): Promise<Store>;
  openData(): Promise<StoreData>;
  /** The database itself, past everything of the service. */
  openEngine(): Promise<Engine>;
  /** Every record as it is stored, by the name of its key; without what passes. */
  contents(): Promise<Record<string, unknown>>;
  remove(): Promise<void>;
}

const IN_MEMORY = { args: ["--appendonly", "no"] };

export async function openPlace(kind: PlaceKind): Promise<StorePlace> {
  const place = kind === "embedded" ? embeddedPlace() : await redisPlace(kind);
  return {
    ...place,
    async contents() {
      const engine = await place.openEngine();
      try {
        return await dumpEngine(engine);
      } finally {
        await engine.close();
      }
    },
  };
}

/** The kind of store on which a `.stores.test.ts` is played. */
export const here = inject("stores").includes("redis") ? "redis" : "embedded";

/** Removed with the test. */
export async function placeForTest(kind: PlaceKind = here): Promise<StorePlace> {
  const place = await openPlace(kind);
  onTestFinished(() => place.remove());
  return place;
}

/** Opens the store there, and closes it. */
export async function within<T>(place: StorePlace, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await place.open();
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function embeddedPlace(): Omit<StorePlace, "contents"> {
  const dataDir = emptyFolder();
  return {
    kind: "embedded",
    env: { DATA_DIR: dataDir },
    open: () => openEmbeddedStore({ dataDir, clock: systemClock }),
    openData: () => openEmbeddedData(dataDir),
    openEngine: () => openLmdbEngine({ dataDir, clock: systemClock }),
    // The folder goes with the run.
    remove: () => Promise.resolve(),
  };
}

async function redisPlace(kind: "redis" | "cluster"): Promise<Omit<StorePlace, "contents">> {
  const servers = kind === "cluster" ? await startRedisCluster(IN_MEMORY) : await startRedis(IN_MEMORY);
  const urls = "urls" in servers ? servers.urls : [servers.url];
  const options = { urls, durability: "local", log: { warn() {} } } as const;
  return {
    kind,
    env: { DATA_DIR: emptyFolder(), REDIS_URL: urls.join() },
    open: () => openRedisStore({ ...options, clock: systemClock }),
    openData: () => openRedisData(options),
    openEngine: async () => (await openRedisEngine(options)).engine,
    remove: () => servers.stop(),
  };
}
