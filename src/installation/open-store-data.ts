import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { StoreData } from "../stores/backup/store-data.ts";

/** Opens the data of the configured store, as open-store.ts opens the store. */
export async function openStoreData({ config, log }: { config: Config; log: Log }): Promise<StoreData> {
  if (config.redisUrls.length === 0) {
    const { openEmbeddedData } = await import("../stores/open-data.ts");
    return await openEmbeddedData(config.dataDir);
  }
  const { openRedisData } = await import("../stores/open-data.ts");
  const urls = config.redisUrls.map((url) => url.reveal());
  return await openRedisData({ urls, durability: config.durability, log });
}
