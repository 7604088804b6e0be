import type { Claims } from "./claims.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import type { Following } from "./following/following.ts";

/** What the sweep of recovery.ts does with a thread that nobody looks after. */
export interface TakeUp {
  /** Takes up a thread whose holder is gone: its run at the last saved step, or its queue. */
  take(uid: string, fence: string): Promise<void>;
  /** Ends a pending call whose deadline has passed. */
  expire(uid: string): Promise<void>;
}

export function createTakeUp({
  claims,
  following,
  clock,
  log,
  observer,
  isDraining,
}: Pick<ThreadDependencies, "clock" | "log" | "observer"> & {
  claims: Claims;
  following: Following;
  isDraining: () => boolean;
}): TakeUp {
  return {
    async take(uid, fence) {
      const record = await claims.load(uid);
      if (record?.fence !== fence || isDraining()) return;
      const { slug, state, run } = record;
      const thread = claims.open({ uid, slug, record, traceparent: null });
      const { type } = await thread.claim({
        event: state === "running" ? { type: "run.taken", atMs: clock.now() } : null,
        takesFrom: fence,
      });
      if (type !== "committed") return;
      const runId = run?.runId ?? "";
      log.info({ uid, runId, from: fence }, "took up a run whose process is gone");
      observer.takenOver({ slug, uid, runId });
      following.begun(thread);
    },

    async expire(uid) {
      const record = await claims.load(uid);
      if (record?.state !== "awaiting" || record.fence) return;
      const thread = claims.open({ uid, slug: record.slug, record, traceparent: null });
      await thread.claim({ event: { type: "call.expired", atMs: clock.now() } });
    },
  };
}
