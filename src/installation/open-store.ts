import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store.ts";

/** Opens the store that the configuration names: REDIS_URL, or the embedded one in DATA_DIR. Loads only the one in use. */
export async function openStore(options: {
  config: Config;
  clock: Clock;
  log: Log;
  /** Called with each round trip to Redis: its name, and how long it took. */
  onCommand?: (name: string, ms: number) => void;
}): Promise<Store> {
  const { config, clock, log, onCommand } = options;
  if (config.redisUrls.length === 0) {
    const { openEmbeddedStore } = await import("../stores/embedded.ts");
    return await openEmbeddedStore({ dataDir: config.dataDir, clock });
  }
  const { openRedisStore } = await import("../stores/redis.ts");
  return await openRedisStore({
    urls: config.redisUrls.map((url) => url.reveal()),
    durability: config.durability,
    clock,
    log,
    ...(onCommand === undefined ? {} : { onCommand }),
  });
}
