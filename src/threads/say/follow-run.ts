import type { ProgressLine, TerminalLine } from "../../../machines/line.ts";
import { areInParts } from "../../domain/threads/kept-text.ts";
import type { ThreadRecord } from "../../store.ts";
import type { Attach } from "./attach.ts";
import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { Following } from "../following/following.ts";
import { findRun } from "../following/run-in-store.ts";
import { refuseUnreadable } from "../recover/refuse-unreadable.ts";
import { createReply } from "../hold/reply.ts";
import type { Reply } from "../hold/reply.ts";
import { toldInParts } from "./told-in-parts.ts";

/**
 * The stream of one run of a thread, in any state: queued, running, at a page call, or over. A run that is not the
 * thread's last one is sent again in short form. null: the thread has no such run.
 */
export type FollowRun = (
  uid: string,
  runId: string,
  loading?: Promise<ThreadRecord | null>,
) => Promise<Reply | null>;

export function createFollowRun({
  claims,
  following,
  attach,
  store,
}: Pick<ThreadDependencies, "store"> & { claims: Claims; following: Following; attach: Attach }): FollowRun {
  /** A run leaves the queue when it begins, so asking in this order misses none. */
  async function exists(uid: string, runId: string): Promise<boolean> {
    const waiting = await store.waitingRuns(uid);
    return waiting.includes(runId) || (await store.run(uid, runId)) !== null;
  }

  return (uid, runId, loading) =>
    claims.onFresh<Reply | null>(uid, loading, async (record) => {
      refuseUnreadable(record);
      if (record?.run?.runId === runId) return attach(record, 0);
      if (!(await exists(uid, runId))) return null;
      const run = await findRun(store, record, { uid, runId });
      switch (run.type) {
        case "past":
          return areInParts(run.lines)
            ? toldInParts(store, { ...run, uid, runId, from: 0 })
            : told(runId, run.lines, run.terminal);
        case "held": {
          const reply = createReply(runId);
          following.expect(uid, reply, run.fence);
          return reply;
        }
        // It changed since the record was read.
        case "ended":
        case "free":
        case "lost":
          return "again";
      }
    });
}

function told(runId: string, lines: readonly ProgressLine[], terminal: TerminalLine): Reply {
  const reply = createReply(runId);
  reply.say([...lines, terminal]);
  return reply;
}
