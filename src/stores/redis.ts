import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";
import { openRedisEngine, refused } from "./engines/redis/open.ts";
import type { RedisOptions } from "./engines/redis/open.ts";
import type { OutsideFiles } from "./files/outside-files.ts";
import type { SealingOptions } from "./steps/codec.ts";
import { storeOn } from "./steps/store.ts";

/**
 * The store on Redis, or on a Redis Cluster: shared by any number of processes. Rejects if Redis cannot be reached, or has
 * a store of another format, or one that is half restored.
 */
export async function openRedisStore(
  options: RedisOptions & SealingOptions & { clock: Clock; outside?: OutsideFiles | null },
): Promise<Store> {
  const { clock, log, wrapping, owners, outside } = options;
  const { engine } = await openRedisEngine(options);
  try {
    return await storeOn(engine, { clock, log, where: "on Redis", wrapping, owners, outside });
  } catch (error) {
    await engine.close();
    throw refused(error);
  }
}
