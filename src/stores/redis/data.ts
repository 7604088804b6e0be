import { STORE_DEADLINE_MS } from "../../store.ts";
import type { StoreData } from "../backup/store-data.ts";
import { refuseLaterFormat } from "../format.ts";
import { redisSuspicions } from "./check.ts";
import { linkToCluster } from "./cluster.ts";
import { rewriteAppendOnlyFiles } from "./rewrite-append-only-files.ts";
import { createCommands } from "./commands.ts";
import { redisCounts } from "./counts.ts";
import { redisFormat, redisSource } from "./export.ts";
import { redisTarget } from "./import.ts";
import type { LinkLog, RedisLink } from "./link.ts";
import { retryingReads } from "./retrying-reads.ts";
import { timeOf } from "./scan.ts";
import { globalKeys } from "./keys.ts";
import { numberOf, textOf } from "./records.ts";
import { linkToServer } from "./single.ts";

/** An instance counts as alive if it has beaten within this time; instances beat several times a second. */
const ALIVE_MS = 5_000;

/** The data of a Redis, or of a cluster. */
export async function openRedisData(options: {
  urls: string[];
  durability: "local" | "replica";
  log: LinkLog;
}): Promise<StoreData> {
  const { urls, durability, log } = options;
  const [url] = urls;
  if (url === undefined) throw new Error("Cannot open the store: no Redis URL was given");
  const linked = { log, deadlineMs: STORE_DEADLINE_MS };
  const link = urls.length === 1 ? await linkToServer(url, linked) : await linkToCluster(urls, linked);
  const redis = retryingReads(createCommands({ link, durability }));
  try {
    refuseLaterFormat(await redisFormat(redis), "on Redis");
  } catch (error) {
    link.close();
    throw error;
  }
  const target = redisTarget(link, redis);
  const close = () => {
    link.close();
    return Promise.resolve();
  };

  return {
    kind: "redis",
    source: () => ({ ...redisSource(link, redis), close: () => Promise.resolve() }),
    target,
    async info() {
      const counts = await redisCounts(link, redis);
      const [first] = link.shards();
      const sinceMs = first ? (await timeOf(first.server)) - ALIVE_MS : 0;
      const { instances } = globalKeys;
      return {
        ...counts,
        instances: numberOf(await redis.read(instances, "ZCOUNT", instances, String(sinceMs), "+inf")),
        bytes: await memoryOf(link),
        restoring: await target.restoring(),
        format: await redisFormat(redis),
      };
    },
    suspicions: (onWalked) => redisSuspicions(link, redis, { source: redisSource(link, redis), onWalked }),
    compact: () => rewriteAppendOnlyFiles(link),
    close,
  };
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
