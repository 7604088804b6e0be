import type { Store } from "../store.ts";
import type { RedisCommands } from "./redis-commands.ts";
import { allBuckets, dueKey, globalKeys, ownKey } from "./redis-keys.ts";
import { listOf, pairsOf, textOf } from "./redis-records.ts";

/**
 * Who lives, and which threads somebody should look after. A process says that it lives in one place for all its
 * threads; what it holds is noted beside each thread by the commit that took it, so the two never disagree.
 */
export type RedisLiveness = Pick<Store, "beat" | "retire" | "heldBy" | "forget" | "due">;

export function redisLiveness(redis: RedisCommands, processId: string): RedisLiveness {
  const { instances } = globalKeys;
  return {
    async beat(ttlMs) {
      return listOf(await redis.call("beat", [instances], [processId, String(ttlMs)])).map(textOf);
    },

    // Last heard of at the beginning of time.
    async retire() {
      await redis.write(instances, "ZADD", instances, "0", processId);
    },

    // One tick, so one round trip to each server.
    async heldBy(holder) {
      // Other processes on the same Redis are alive until `beat` says otherwise.
      if (holder === null) return [];
      const buckets = await Promise.all(
        allBuckets.map(async (bucket) => {
          const key = ownKey(bucket, holder);
          return pairsOf(await redis.read(key, "HGETALL", key)).map(([uid, fence]) => ({ uid, fence }));
        }),
      );
      return buckets.flat();
    },

    async forget(gone) {
      await redis.write(instances, "ZREM", instances, gone);
    },

    async due(atMs, limit) {
      const range = ["-inf", String(atMs), "LIMIT", "0", String(limit)];
      const buckets = await Promise.all(
        allBuckets.map((bucket) => redis.read(dueKey(bucket), "ZRANGEBYSCORE", dueKey(bucket), ...range)),
      );
      return buckets.flatMap(listOf).map(textOf).slice(0, limit);
    },
  };
}
