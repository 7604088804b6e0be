import { DELETED_FENCE, holderOf } from "../../../domain/fence.ts";
import type { Suspicion } from "../../backup/rules.ts";
import type { SeenUids } from "../../backup/seen-uids.ts";
import type { BackupSource } from "../../backup/source.ts";
import { suspectThread } from "../../backup/suspect-thread.ts";
import { bucketOf } from "../../buckets.ts";
import { dueKey, holdersKey, ownKey, threadKeys } from "../keys.ts";
import { listOf, pairsOf, textOf } from "../records.ts";
import type { Probe } from "./probe.ts";

/** Rules for threads, their holders and their deadlines. */
export function threadRules({ redis, field, score, mend, suspect }: Probe) {
  async function ownSuspicions(key: string): Promise<Suspicion[]> {
    const holds = pairsOf(await redis.read(key, "HGETALL", key));
    const suspicions = holds.map(([uid, fence]) => {
      const { header } = threadKeys(uid);
      return suspect({
        rule: "hold of a thread that is not held so",
        what: `${key} ${uid}`,
        isStill: async () => {
          const [listed, held] = await Promise.all([field(key, uid), field(header, "fence")]);
          return listed === fence && held !== fence;
        },
        // A released fence never comes back.
        mend: mend(key, ["is", uid, fence], key, "HDEL", uid),
      });
    });
    return (await Promise.all(suspicions)).flat();
  }

  async function dueSuspicions(key: string): Promise<Suspicion[]> {
    const uids = listOf(await redis.read(key, "ZRANGE", key, "0", "-1")).map(textOf);
    const suspicions = uids.map((uid) => {
      const { header } = threadKeys(uid);
      return suspect({
        rule: "deadline of a thread that does not rest",
        what: `${key} ${uid}`,
        isStill: async () => !(await rests(header)) && (await score(key, uid)),
        mend: mend(header, ["moves"], key, "ZREM", uid),
      });
    });
    return (await Promise.all(suspicions)).flat();
  }

  async function rests(header: string): Promise<boolean> {
    const [state, fence] = listOf(await redis.read(header, "HMGET", header, "state", "fence"));
    return (state === "awaiting" || state === "waiting_for_person") && fence === null;
  }

  async function threadSuspicions(
    header: string,
    uid: string,
    source: Pick<BackupSource, "thread">,
    named: SeenUids,
    nameless: Map<string, string>,
  ): Promise<Suspicion[]> {
    const fence = await field(header, "fence");
    if (fence?.startsWith(DELETED_FENCE)) return [];
    if (!named.has(uid)) nameless.set(uid, header);
    const bucket = bucketOf(uid);
    const isResting = await rests(header);
    const found = await suspectThread(uid, source);
    if (fence !== null) {
      const own = ownKey(bucket, holderOf(fence));
      const list = mend(header, ["is", "fence", fence], own, "HSET", uid, fence);
      const unlisted = await suspect({
        rule: "thread is held and not listed",
        what: header,
        isStill: async () => {
          const [listed, held] = await Promise.all([field(own, uid), field(header, "fence")]);
          return held === fence && listed !== fence;
        },
        async mend() {
          await list();
          const holders = holdersKey(bucket);
          await redis.write(holders, "SADD", holders, holderOf(fence));
        },
      });
      found.push(...unlisted);
    } else if (isResting) {
      const due = dueKey(bucket);
      const endless = await suspect({
        rule: "resting thread has no deadline",
        what: header,
        isStill: async () => (await rests(header)) && !(await score(due, uid)),
        mend: mend(header, ["rests"], due, "ZADD", "NX", String(Date.now()), uid),
      });
      found.push(...endless);
    }
    return found;
  }

  return { ownSuspicions, dueSuspicions, threadSuspicions };
}
