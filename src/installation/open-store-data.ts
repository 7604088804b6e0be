import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { StoreData } from "../stores/backup/store-data.ts";
import type { Engine } from "../stores/engine.ts";

/** Opens the data of the configured store, as open-store.ts opens the store. */
export async function openStoreData({
  config,
  log,
  engine,
}: {
  config: Config;
  log: Log;
  engine: Engine | undefined;
}): Promise<StoreData> {
  if (config.redisUrls.length === 0) {
    const { openEmbeddedData, servedData } = await import("../stores/open-data.ts");
    const { dataDir } = config;
    return engine ? servedData(engine, dataDir) : await openEmbeddedData(dataDir);
  }
  const { openRedisData } = await import("../stores/open-data.ts");
  const urls = config.redisUrls.map((url) => url.reveal());
  return await openRedisData({ urls, durability: config.durability, log });
}
