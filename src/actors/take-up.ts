import { NewerRecord, UnreadableRecord } from "../store.ts";
import type { Claims } from "./claims.ts";
import { createLeftAlone } from "./left-alone.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import type { Following } from "./following/following.ts";
import type { Mend } from "./mend.ts";

/** What the sweep of recovery.ts does with a thread that nobody looks after. */
export interface TakeUp {
  /** Takes up a thread whose holder is gone: its run at the last saved step, or its queue. */
  take(uid: string, fence: string): Promise<void>;
  /** Ends a pending call whose deadline has passed. */
  expire(uid: string): Promise<void>;
  /** Threads that nothing can be done about for now: they are not to be asked for again. */
  leftAlone(): ReadonlySet<string>;
}

export function createTakeUp({
  claims,
  following,
  mend,
  clock,
  log,
  observer,
  isDraining,
}: Pick<ThreadDependencies, "clock" | "log" | "observer"> & {
  claims: Claims;
  following: Following;
  mend: Mend;
  isDraining: () => boolean;
}): TakeUp {
  const alone = createLeftAlone({ clock, log });

  /** Once more where part of the thread was set aside. What cannot be done is left for a while. */
  async function tend(uid: string, lost: string | undefined, work: () => Promise<void>): Promise<void> {
    if (alone.has(uid)) return;
    try {
      await work().catch(async (error: unknown) => {
        if (!(error instanceof UnreadableRecord) || error instanceof NewerRecord) throw error;
        await mend(uid, lost);
        await work();
      });
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      alone.add(uid, error);
    }
  }

  async function take(uid: string, fence: string): Promise<void> {
    const record = await claims.load(uid);
    if (record?.fence !== fence || isDraining()) return;
    const { slug, state, run } = record;
    const thread = claims.open({ uid, slug, record, traceparent: null });
    const result = await thread.claim({
      event: state === "running" ? { type: "run.taken", atMs: clock.now() } : null,
      takesFrom: fence,
    });
    if (result.type !== "committed") return;
    // Held by this process now, and by nobody in it: set aside, it is taken once more.
    if (result.unreadableNext && state !== "running") throw result.unreadableNext;
    const runId = run?.runId ?? "";
    log.info({ uid, runId, from: fence }, "took up a run whose process is gone");
    observer.takenOver({ slug, uid, runId });
    following.begun(thread);
  }

  async function expire(uid: string): Promise<void> {
    const record = await claims.load(uid);
    // Nothing is pending, whatever the list of deadlines says.
    if (record?.state !== "awaiting" || record.fence) return alone.add(uid, null);
    const thread = claims.open({ uid, slug: record.slug, record, traceparent: null });
    await thread.claim({ event: { type: "call.expired", atMs: clock.now() } });
  }

  return {
    take: (uid, fence) => tend(uid, fence, () => take(uid, fence)),
    expire: (uid) => tend(uid, undefined, () => expire(uid)),
    leftAlone: () => alone.all(),
  };
}
