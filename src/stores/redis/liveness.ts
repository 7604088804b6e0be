import type { InstanceStore } from "../../store/instances.ts";
import type { CommitResult } from "../../store/threads.ts";
import type { RedisCommands } from "./commands.ts";
import { allBuckets, barKey, dueKey, globalKeys, ownKey } from "./keys.ts";
import { listOf, pairsOf, textOf } from "./records.ts";

/**
 * Who lives, and which threads somebody should look after. A process says that it lives in one place for all its
 * threads; what it holds is noted beside each thread by the commit that took it, so the two never disagree.
 *
 * Who holds something must be known there, or nobody would take it up. The two places are in different slots, so a
 * process is forgotten in two steps: it is barred from each bucket in which it holds nothing, as of the look that found
 * it silent; and it is struck off if nobody has heard of it since. If it only slept, its claims stand on a beat that
 * does not count any more, until it beats again and is known again.
 */
export interface RedisLiveness extends Omit<InstanceStore, "processId" | "send" | "onMessage"> {
  /**
   * A commit, which stands on this process's latest beat: it is given the time of it, and is made once more on a new one
   * where it answers null, which is that the others have forgotten this process since.
   */
  whileKnown(commit: (heardAtMs: number) => Promise<CommitResult | null>): Promise<CommitResult>;
}

/** What a beat was answered. */
interface Look {
  atMs: number;
  /** Silent processes, and when each was last heard of. */
  silent: Map<string, string>;
}

/** A process that was stopped for longer, claims, and dies before it beats leaves its thread held for good. */
const BAR_MS = 24 * 3_600_000;
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

export function redisLiveness(redis: RedisCommands, processId: string): RedisLiveness {
  const { instances } = globalKeys;
  let look: Look | null = null;

  async function lookAround(ttlMs: number): Promise<Look> {
    const [now, silent] = listOf(
      await redis.call("beat", { instances }, { processId, ttlMs: String(ttlMs) }),
    );
    return (look = { atMs: Number(textOf(now)), silent: new Map(pairsOf(silent ?? null)) });
  }

  return {
    async whileKnown(commit) {
      const { atMs } = look ?? (await lookAround(FOR_EVER_MS));
      // Forgotten again at once: whoever claims reads the thread again.
      return (
        (await commit(atMs)) ?? (await commit((await lookAround(FOR_EVER_MS)).atMs)) ?? { type: "changed" }
      );
    },

    async beat(ttlMs) {
      return [...(await lookAround(ttlMs)).silent.keys()];
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
      const heardAt = look?.silent.get(gone);
      if (!look || heardAt === undefined) return;
      const args = { lookedAtMs: String(look.atMs), keptMs: String(BAR_MS) };
      const barred = await Promise.all(
        allBuckets.map((bucket) => {
          const keys = { own: ownKey(bucket, gone), barKey: barKey(bucket, gone) };
          return redis.call("bar", keys, args);
        }),
      );
      if (barred.every((isBarred) => isBarred === 1)) {
        await redis.call("forget", { instances }, { processId: gone, heardAt });
      }
    },

    async due(atMs, limit, except = new Set()) {
      // However many are left out, the others are found.
      const range = ["-inf", String(atMs), "LIMIT", "0", String(limit + except.size)];
      const buckets = await Promise.all(
        allBuckets.map((bucket) => redis.read(dueKey(bucket), "ZRANGEBYSCORE", dueKey(bucket), ...range)),
      );
      const uids = buckets.flatMap(listOf).map(textOf);
      return uids.filter((uid) => !except.has(uid)).slice(0, limit);
    },
  };
}
