import type { ThreadRecord } from "../../store.ts";
import { threadHost } from "../../charts/charts.ts";
import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";

/**
 * Ends a thread's pending call whose time is over, for who asks about it: the sweep (recovery.ts) may come seconds later,
 * and until then a page would be told of a call whose result is refused. Resolves to false where nothing is to be ended.
 */
export type Expire = (record: ThreadRecord) => Promise<boolean>;

export function createExpire({
  claims,
  clock,
}: Pick<ThreadDependencies, "clock"> & { claims: Claims }): Expire {
  return async ({ uid, slug, state, fence, snapshot }) => {
    if (state !== "awaiting" || fence !== null || snapshot === null) return false;
    const event = { type: "call.expired", atMs: clock.now() } as const;
    if (!threadHost.decide(threadHost.thaw(snapshot, uid), event).changed) return false;
    // What was read may lack texts that are kept in parts, and the end is saved with all of them.
    const record = await claims.load(uid);
    await claims.open({ uid, slug, record, traceparent: null }).claim({ event });
    return true;
  };
}
