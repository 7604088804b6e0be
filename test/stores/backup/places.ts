import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import type { StoreData } from "../../../src/stores/backup/store-data.ts";
import { openEmbeddedData } from "../../../src/stores/embedded/data.ts";
import { openRedisData } from "../../../src/stores/redis/data.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { emptyFolder } from "../../support/data-dir.ts";
import { startRedisCluster } from "../../support/redis-cluster.ts";
import { startRedis } from "../../support/redis-server.ts";
import { readEmbedded } from "../../versions/embedded-records.ts";
import { readRedis } from "../../versions/redis-records.ts";
import type { StoreEnv } from "./copy.ts";

export type PlaceKind = "embedded" | "redis" | "cluster";

/** Where a store can be, empty at first. */
export interface StorePlace {
  kind: PlaceKind;
  env: StoreEnv;
  open(): Promise<Store>;
  openData(): Promise<StoreData>;
  /** Every record as it is stored, by the name of its key, past everything of the service; without what passes. */
  contents(): Promise<Record<string, unknown>>;
  remove(): Promise<void>;
}

const IN_MEMORY = { args: ["--appendonly", "no"] };

export async function openPlace(kind: PlaceKind): Promise<StorePlace> {
  const dataDir = emptyFolder();
  if (kind === "embedded") {
    return {
      kind,
      env: { DATA_DIR: dataDir },
      open: () => openEmbeddedStore({ dataDir, clock: systemClock }),
      openData: () => openEmbeddedData(dataDir),
      contents: () => embeddedContents(dataDir),
      // The folder goes with the run.
      remove: () => Promise.resolve(),
    };
  }
  const servers = kind === "cluster" ? await startRedisCluster(IN_MEMORY) : await startRedis(IN_MEMORY);
  const urls = "urls" in servers ? servers.urls : [servers.url];
  return {
    kind,
    env: { DATA_DIR: dataDir, REDIS_URL: urls.join() },
    open: () => openRedisStore({ urls, durability: "local", clock: systemClock, log: { warn() {} } }),
    openData: () => openRedisData({ urls, durability: "local", log: { warn() {} } }),
    contents: () => redisContents(urls),
    remove: () => servers.stop(),
  };
}

/** Nobody repeats the last operation of before a restore. */
async function embeddedContents(dataDir: string): Promise<Record<string, unknown>> {
  const records = (await readEmbedded(dataDir)).map(({ key, value }) => {
    // A key of one part comes as that part.
    const parts = [key].flat();
    return [parts.join(" "), parts[0] === "h" ? { ...(value as object), lastOp: null } : value] as const;
  });
  return Object.fromEntries(records.filter(([key]) => key !== "changes"));
}

const PASSING = ["changes:{g}", "instances:{g}"];

async function redisContents(urls: string[]): Promise<Record<string, unknown>> {
  const records = (await Promise.all(urls.map((url) => readRedis(url)))).flat();
  return Object.fromEntries(
    records
      .filter(({ key }) => !PASSING.includes(key) && !key.startsWith("bar:"))
      .map(({ key, ttlMs, ...value }) => {
        if (!("hash" in value)) return [key, { ...value, expires: ttlMs !== undefined }];
        const { op: _, opNext: __, ...fields } = value.hash;
        return [key, { hash: fields, expires: ttlMs !== undefined }];
      }),
  );
}
