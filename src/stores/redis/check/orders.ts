import { DELETED_FENCE } from "../../../domain/fence.ts";
import type { ThreadEntry } from "../../../store/users.ts";
import { BUSY_STATES } from "../../busy-states.ts";
import { isAtItsActivity } from "../../backup/rules.ts";
import type { Suspicion } from "../../backup/rules.ts";
import type { SeenUids } from "../../backup/seen-uids.ts";
import { raise } from "../activity.ts";
import { arrange } from "../busy.ts";
import { FILLED_ALL, statesField } from "../filled.ts";
import { activityKey, busyKey, globalKeys, ownersKey, threadKeys, userKeys } from "../keys.ts";
import { hashPages } from "../pages.ts";
import { ofMembers } from "./probe.ts";
import { numberOf, threadEntryFrom } from "../records.ts";
import { timeOf } from "../scan.ts";
import { glanceAt } from "../thread-list.ts";
import type { RedisLink } from "../link.ts";
import type { Probe } from "./probe.ts";

/** The lists by activity and state are written within two seconds after a commit, and once more if that failed. */
const SETTLES_MS = 5_000;
const ALIVE_MS = 5_000;
/** Until its deletion is finished, an instance that was using a thread may list it again. */
const DELETING_MS = 60_000;
const DELETED = "deleted ";
const PAGE = 500;

/** How long after a commit the lists may be judged: at once if no instance is alive, since nothing is pending then. */
export async function settlingOf(
  link: RedisLink,
  { redis }: Probe,
): Promise<{ settlesMs: number; nowMs: number }> {
  const [first] = link.shards();
  const nowMs = first ? await timeOf(first.server) : Date.now();
  const { instances } = globalKeys;
  const since = String(nowMs - ALIVE_MS);
  const alive = numberOf(await redis.read(instances, "ZCOUNT", instances, since, "+inf"));
  return { settlesMs: alive > 0 ? SETTLES_MS : 0, nowMs };
}

/**
 * Rules for a channel's orders: its threads by activity and by state, and their owners. The orders say where to look;
 * the records say what is true. A channel that is not filled yet (fill-orders.ts) is not checked.
 */
export function orderRules(
  { redis, exists, field, score, mend, suspect }: Probe,
  { named, settlesMs, nowMs }: { named: SeenUids; settlesMs: number; nowMs: number },
) {
  const filled = new Map<string, Promise<boolean>>();

  async function knowsAll(slug: string): Promise<boolean> {
    const { filled: key } = globalKeys;
    const asked = async () => (await field(key, statesField(slug))) === FILLED_ALL;
    const known = filled.get(slug) ?? asked();
    filled.set(slug, known);
    return known;
  }

  const scoreOf = async (key: string, member: string) => {
    const reply = await redis.read(key, "ZSCORE", key, member);
    return reply === null ? null : numberOf(reply);
  };

  const isGone = async (uid: string) => {
    const { header } = threadKeys(uid);
    const fence = await field(header, "fence");
    return fence?.startsWith(DELETED_FENCE) || !(await exists(header));
  };

  const isBeingDeleted = (owner: string | null) =>
    owner !== null && owner.startsWith(DELETED) && nowMs - Number(owner.slice(DELETED.length)) < DELETING_MS;

  /** Says nothing about a thread that has changed meanwhile. */
  function restingThread(uid: string, rev: string | null, look: () => Promise<boolean>) {
    return async () => (await look()) && (await field(threadKeys(uid).header, "rev")) === rev;
  }

  /** Checks for each of a user's threads that the channel's lists have it in the right place. */
  async function nameSuspicions(key: string, slug: string, userId: string): Promise<Suspicion[]> {
    if (!(await knowsAll(slug)) || !(await exists(userKeys(slug, userId).user))) return [];
    const found: Suspicion[] = [];
    for await (const pairs of hashPages(redis, key, PAGE)) {
      const threads = pairs.map((pair) => threadEntryFrom(...pair));
      const suspicions = threads.map((thread) => threadSuspicions(slug, userId, thread));
      found.push(...(await Promise.all(suspicions)).flat());
    }
    return found;
  }

  async function threadSuspicions(slug: string, userId: string, entry: ThreadEntry): Promise<Suspicion[]> {
    const { uid, threadId } = entry;
    const [activity, owners, { names }] = [activityKey(slug), ownersKey(slug), userKeys(slug, userId)];
    const rev = await field(threadKeys(uid).header, "rev");
    const isNamed = async () => (await redis.read(names, "HEXISTS", names, threadId)) === 1;

    const owner = `${userId} ${threadId}`;
    const unowned = suspect({
      rule: "owner of a thread is not listed",
      what: `${owners} ${uid}`,
      isStill: async () => (await field(owners, uid)) !== owner && (await isNamed()),
      mend: mend(names, ["is", threadId, `${uid} ${entry.createdAtMs}`], owners, "HSET", uid, owner),
    });

    const misplaced = suspect({
      rule: "thread is not at its last activity",
      what: `${activity} ${uid}`,
      settlesMs,
      isStill: restingThread(uid, rev, async () => {
        const [now, at] = [await glanceAt(redis, entry), await scoreOf(activity, uid)];
        return !isAtItsActivity(at, now.updatedAtMs) && (await isNamed());
      }),
      async mend() {
        const [at, now] = [await scoreOf(activity, uid), await glanceAt(redis, entry)];
        if (at === null || at < now.updatedAtMs) return raise(redis, slug, [[uid, now.updatedAtMs]]);
        // A message that comes meanwhile raises it, and wins.
        await mend(activity, ["scores", uid, String(at)], activity, "ZADD", String(now.updatedAtMs), uid)();
      },
    });

    const unlisted = suspect({
      rule: "thread is not listed by its state",
      what: uid,
      settlesMs,
      isStill: restingThread(uid, rev, async () => {
        const { state, updatedAtMs } = await glanceAt(redis, entry);
        if (state === "idle") return false;
        return !isAtItsActivity(await scoreOf(busyKey(slug, state), uid), updatedAtMs) && (await isNamed());
      }),
      mend: () => listByState(slug, entry),
    });
    return (await Promise.all([unowned, misplaced, unlisted])).flat();
  }

  async function listByState(slug: string, entry: ThreadEntry): Promise<void> {
    const { uid, state, updatedAtMs } = await glanceAt(redis, entry);
    await arrange(redis, slug, new Map([[uid, { state, atMs: updatedAtMs }]]));
  }

  /** Checks a list by state. */
  async function busySuspicions(key: string, slug: string, state: string): Promise<Suspicion[]> {
    if (!(await knowsAll(slug)) || !BUSY_STATES.some((one) => one === state)) return [];
    return ofMembers(redis, key, async (uid) => {
      const { header } = threadKeys(uid);
      const rev = await field(header, "rev");
      return suspect({
        rule: "thread is listed by a state that it is not in",
        what: `${key} ${uid}`,
        settlesMs,
        isStill: restingThread(uid, rev, async () => {
          if (!(await score(key, uid)) || (await field(header, "state")) === state) return false;
          return !isBeingDeleted(await field(ownersKey(slug), uid));
        }),
        mend: () => listByState(slug, { uid, threadId: "", createdAtMs: 0 }),
      });
    });
  }

  /** Checks the list by activity. */
  async function activitySuspicions(key: string, slug: string): Promise<Suspicion[]> {
    if (!(await knowsAll(slug))) return [];
    const owners = ownersKey(slug);
    return ofMembers(redis, key, async (uid) => {
      if (named.has(uid)) return [];
      return suspect({
        rule: "listed thread is not there",
        what: `${key} ${uid}`,
        // The step that creates a thread also lists its owner.
        isStill: async () => {
          const owner = await field(owners, uid);
          const isOwned = owner !== null && !owner.startsWith(DELETED);
          if (isOwned || isBeingDeleted(owner)) return false;
          return (await isGone(uid)) && (await score(key, uid));
        },
        mend: async () => redis.write(key, "ZREM", key, uid).then(() => {}),
      });
    });
  }

  /** Checks the list of owners; threads without a name have a rule of their own. */
  async function ownerSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    if (!(await knowsAll(slug))) return [];
    const found: Suspicion[] = [];
    for await (const pairs of hashPages(redis, key, PAGE)) {
      const stale = pairs.filter(([uid, owner]) => !owner.startsWith(DELETED) && !named.has(uid));
      for (const [uid, owner] of stale) {
        const [userId = "", name = ""] = splitOwner(owner);
        const { names } = userKeys(slug, userId);
        found.push(
          ...(await suspect({
            rule: "listed owner is of no thread",
            what: `${key} ${uid}`,
            isStill: async () =>
              (await field(key, uid)) === owner &&
              (await redis.read(names, "HEXISTS", names, name)) === 0 &&
              (await isGone(uid)),
            mend: mend(key, ["is", uid, owner], key, "HDEL", uid),
          })),
        );
      }
    }
    return found;
  }

  return {
    nameSuspicions,
    busySuspicions,
    activitySuspicions,
    ownerSuspicions,
  };
}

function splitOwner(owner: string): string[] {
  const space = owner.indexOf(" ");
  return [owner.slice(0, space), owner.slice(space + 1)];
}
