import { EVERYTHING, RETIRED, StoreUnavailable } from "../../store.ts";
import type { Hold, InstanceStore, Share } from "../../store.ts";
import { slotOf } from "../engine.ts";
import type { Write } from "../engine.ts";
import { ALL_BUCKETS, partsOfKey, tables } from "../tables.ts";
import { prefixOf } from "../walk.ts";
import { nowMs } from "./context.ts";
import type { StepsContext } from "./context.ts";
import { COUNT_OF_CHANGES } from "./notice.ts";

export type InstanceSteps = Pick<
  InstanceStore,
  "beat" | "retire" | "enter" | "holders" | "heldBy" | "forget" | "due"
>;

/** The stamp of a process that has not beaten yet: lower than that of any beat. */
const ENTERED = 1;
/** The time of the database is read with one beat in so many: it is a command of its own. */
const BEATS_PER_TIME = 10;

/**
 * Heartbeats, and threads that need recovery (threads/protocol.md). All heartbeats are under one key; a commit that
 * claims a thread notes its holder in the thread's bucket: the thread among those of the process, the process in the
 * list of holders.
 *
 * These are different slots, and each may fail over by itself. So a process is forgotten in two steps: it is removed
 * from the list of each bucket in which it holds nothing; then its heartbeat is removed, unless it has beaten since.
 * A listed process without a heartbeat is given one, and then beats or is found silent.
 *
 * Only one process serves an embedded store: any other holder is a dead one, and there are no heartbeats.
 */
export function instanceSteps(
  context: StepsContext,
  told: {
    /** Gets the count of changes with each beat. */
    changeCount: (count: number) => void;
    /** Called by the process that has forgotten another one. */
    forgotten: () => void;
  },
): InstanceSteps {
  const { engine, processId } = context;
  const { key } = tables.instances;
  const slot = slotOf(key);
  const isEmbedded = engine.kind === "embedded";
  /** The last one. */
  let stamp = ENTERED;
  let beats = 0;

  async function holdersIn(bucket: string): Promise<string[]> {
    const [pairs] = await engine.read([{ read: "hash", key: tables.holders.key(bucket) }], {
      name: "holders",
    });
    return pairs.map(([holder]) => holder);
  }

  async function heldIn(bucket: string, holder: string) {
    const [pairs] = await engine.read([{ read: "hash", key: tables.held.key(bucket, holder) }], {
      name: "heldBy",
    });
    return pairs.map(([uid, fence]) => ({ uid, fence }));
  }

  /** By the keys themselves: the lists of holders are never shortened here. */
  async function heldByOthers(): Promise<Hold[]> {
    const holds: Hold[] = [];
    for await (const keys of engine.keys(prefixOf(tables.held))) {
      const others = keys.map(partsOfKey).filter((parts) => parts !== null && parts.id !== processId);
      const held = await Promise.all(others.map((parts) => heldIn(parts?.tag ?? "", parts?.id ?? "")));
      holds.push(...held.flat());
    }
    return holds;
  }

  return {
    async beat() {
      // About the time, for tools that count the instances; grows with each beat, whatever happens to the clock.
      stamp = Math.max(stamp + 1, Math.floor(nowMs(context)));
      const reads = [{ read: "range", key }, COUNT_OF_CHANGES] as const;
      const own: Write = { write: "put", key, members: [[processId, stamp]] };
      const readsTime = engine.timeMs() === null || beats % BEATS_PER_TIME === 0;
      beats += 1;
      const [answer] = await Promise.all([
        engine.apply({ name: "beat", slot, checks: [], writes: isEmbedded ? [] : [own], reads }),
        readsTime ? engine.readTime() : undefined,
      ]);
      const [heartbeats, [changes]] = answer.reads;
      told.changeCount(Number(changes ?? 0));
      return heartbeats
        .filter(([other]) => other !== processId)
        .map(([other, score]) => ({ processId: other, stamp: String(score) }));
    },

    async retire() {
      if (isEmbedded) return;
      const members = [[processId, Number(RETIRED)]] as const;
      await engine.apply({ name: "retire", slot, checks: [], writes: [{ write: "put", key, members }] });
    },

    async enter(processIds) {
      if (isEmbedded || processIds.length === 0) return;
      const members = processIds.map((id) => [id, ENTERED] as const);
      await engine.apply({
        name: "enter",
        slot,
        checks: [],
        writes: [{ write: "put", key, members, mode: "new" }],
      });
    },

    async holders(share) {
      return isEmbedded ? [] : [...new Set((await eachBucket(share, holdersIn)).flat())];
    },

    async heldBy(holder, share = EVERYTHING) {
      // Other processes on the same Redis are alive until their heartbeats say otherwise.
      if (holder === null) return isEmbedded ? heldByOthers() : [];
      return (await eachThatAnswers(share, (bucket) => heldIn(bucket, holder))).flat();
    },

    async forget(gone) {
      if (isEmbedded) return;
      const unlisted = await eachBucket(EVERYTHING, async (bucket) => {
        const holders = tables.holders.key(bucket);
        const { type } = await engine.apply({
          name: "forget",
          slot: slotOf(holders),
          checks: [{ check: "key", key: tables.held.key(bucket, gone.processId), exists: false }],
          writes: [{ write: "remove", key: holders, fields: [gone.processId] }],
        });
        return type !== "failed";
      });
      if (!unlisted.every(Boolean)) return;
      const { type } = await engine.apply({
        name: "forget",
        slot,
        checks: [{ check: "score", key, member: gone.processId, is: [Number(gone.stamp)] }],
        writes: [{ write: "take", key, members: [gone.processId] }],
      });
      if (type !== "failed") told.forgotten();
    },

    async due(atMs, limit, share = EVERYTHING, except = new Set()) {
      // Enough to find `limit` others, however many are left out.
      const most = limit + except.size;
      const lists = await eachThatAnswers(share, async (bucket) => {
        const range = { read: "range", key: tables.due.key(bucket), to: atMs, limit: most } as const;
        const [members] = await engine.read([range], { name: "due" });
        return members.map(([uid]) => uid);
      });
      return lists
        .flat()
        .filter((uid) => !except.has(uid))
        .slice(0, limit);
    },
  };
}

/** The buckets of a share. */
export function bucketsOf({ rank, of }: Share): string[] {
  return ALL_BUCKETS.filter((_, nth) => nth % of === rank);
}

/** All in one tick, so one round trip to each server. */
function eachBucket<Result>(share: Share, ask: (bucket: string) => Promise<Result>): Promise<Result[]> {
  return Promise.all(bucketsOf(share).map(ask));
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
