import { StoreUnavailable } from "../../store.ts";
import { EVERYTHING, RETIRED } from "../../store/instances.ts";
import type { Heartbeat, InstanceStore, Share } from "../../store/instances.ts";
import type { CommitResult } from "../../store/threads.ts";
import type { RedisCommands } from "./commands.ts";
import { allBuckets, barKey, dueKey, globalKeys, holdersKey, ownKey } from "./keys.ts";
import { listOf, pairsOf, textOf } from "./records.ts";
import type { Barred } from "./threads.ts";

/**
 * Heartbeats, and threads that need recovery (actors/protocol.md). All heartbeats are under one key; a commit that
 * claims a thread notes its holder in the thread's bucket: the thread among those of the process, the process in the
 * list of holders.
 *
 * These are different slots, and each may fail over by itself. So a process is forgotten in two steps: it is removed
 * from the list of each bucket in which it holds nothing; then its heartbeat is removed, unless it has beaten since.
 * A listed process without a heartbeat is given one, and then beats or is found silent.
 *
 * Instances of 0.1.0 know no lists. Because of them a process is also barred before it is forgotten: it cannot claim
 * a thread with the heartbeat by which it was found silent.
 */
export interface RedisLiveness extends Omit<
  InstanceStore,
  "processId" | "send" | "onMessage" | "onReconnect"
> {
  /** Makes a commit with this process's latest heartbeat; if that is barred, beats and tries once more. */
  whileKnown(commit: (stamp: number) => Promise<CommitResult | Barred>): Promise<CommitResult>;
}

/** Longer than an instance of 0.1.0 may be suspended and then simply continue. */
const BAR_MS = 24 * 3_600_000;

export function redisLiveness(
  redis: RedisCommands,
  processId: string,
  /** Gets the count of changes with each beat (ChannelStore.changeCount). */
  onChangeCount: (count: string) => void = () => {},
  /** Called by the process that has forgotten another one. */
  onForgotten: () => void = () => {},
): RedisLiveness {
  const { instances, changes } = globalKeys;
  /** The stamp of this process's last heartbeat; 0: it has not beaten yet. */
  let stamp = 0;
  /** The time of Redis less this process's monotonic clock; null: not read yet. */
  let aheadMs: number | null = null;

  async function beat(afterMs: number): Promise<Heartbeat[]> {
    const reply = await redis.call("beat", { instances, changes }, { processId, afterMs: String(afterMs) });
    const [own, others, changeCount, time] = listOf(reply);
    onChangeCount(textOf(changeCount));
    aheadMs = Number(textOf(time)) - performance.now();
    stamp = Math.max(stamp, Number(textOf(own)));
    return pairsOf(others ?? null).map(([other, its]) => ({ processId: other, stamp: its }));
  }

  return {
    async whileKnown(commit) {
      if (stamp === 0) await beat(0);
      const first = await commit(stamp);
      if (first.type !== "barred") return first;
      await beat(Math.max(stamp, first.untilMs));
      const second = await commit(stamp);
      // Forgotten again at once: a caller that claims will read the thread again.
      return second.type === "barred" ? { type: "changed" } : second;
    },

    beat: () => beat(stamp),

    timeMs: () => (aheadMs === null ? null : Math.floor(performance.now() + aheadMs)),

    async retire() {
      await redis.write(instances, "ZADD", instances, RETIRED, processId);
    },

    async enter(unknown) {
      if (unknown.length > 0) await redis.call("enter", { instances }, {}, [...unknown]);
    },

    async holders(share) {
      const lists = await eachBucket(share, (bucket) => {
        const key = holdersKey(bucket);
        return redis.read(key, "SMEMBERS", key);
      });
      return [...new Set(lists.flatMap(listOf).map(textOf))];
    },

    async heldBy(holder, share = EVERYTHING) {
      // Other processes on the same Redis are alive until their heartbeats say otherwise.
      if (holder === null) return [];
      const holds = await eachThatAnswers(share, async (bucket) => {
        const key = ownKey(bucket, holder);
        return pairsOf(await redis.read(key, "HGETALL", key)).map(([uid, fence]) => ({ uid, fence }));
      });
      return holds.flat();
    },

    async forget(gone) {
      const args = { ...gone, keptMs: String(BAR_MS) };
      const isOff = await eachBucket(EVERYTHING, (bucket) => {
        const keys = {
          own: ownKey(bucket, gone.processId),
          barKey: barKey(bucket, gone.processId),
          holders: holdersKey(bucket),
        };
        return redis.call("bar", keys, args);
      });
      if (!isOff.every((off) => off === 1)) return;
      if ((await redis.call("forget", { instances }, { ...gone })) === 1) onForgotten();
    },

    async due(atMs, limit, share = EVERYTHING, except = new Set()) {
      // Enough to find `limit` others, however many are left out.
      const range = ["-inf", String(atMs), "LIMIT", "0", String(limit + except.size)];
      const lists = await eachThatAnswers(share, (bucket) =>
        redis.read(dueKey(bucket), "ZRANGEBYSCORE", dueKey(bucket), ...range),
      );
      const uids = lists.flatMap(listOf).map(textOf);
      return uids.filter((uid) => !except.has(uid)).slice(0, limit);
    },
  };
}

/** All in one tick, so one round trip to each server. */
function eachBucket<Result>(
  { rank, of }: Share,
  ask: (bucket: string) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(allBuckets.filter((_, nth) => nth % of === rank).map(ask));
}

/** The buckets of shards that answer; those of other shards are found when they are back. */
async function eachThatAnswers<Result>(
  share: Share,
  ask: (bucket: string) => Promise<Result>,
): Promise<Result[]> {
  const asked = await eachBucket(share, async (bucket) =>
    ask(bucket).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    ),
  );
  const answered = asked.flatMap((each) => ("answer" in each ? [each.answer] : []));
  for (const each of asked) {
    if (!("error" in each)) continue;
    if (answered.length === 0 || !(each.error instanceof StoreUnavailable)) throw each.error;
  }
  return answered;
}
