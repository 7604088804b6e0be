import type { ThreadRecord } from "../store.ts";
import type { Following } from "./following/following.ts";
import type { HeldThreads } from "./held-threads.ts";
import { createReply } from "./reply.ts";
import type { Reply } from "./reply.ts";
import { linesSince } from "./run-log.ts";

/**
 * The stream of a record's run again, from a position on: of a run that has ended its present stream, of one alive
 * here, or of one alive elsewhere. "again": it moved meanwhile.
 */
export type Attach = (record: ThreadRecord, from: number) => Promise<Reply | "again">;

export function createAttach(held: HeldThreads, following: Following): Attach {
  return async (record, from) => {
    const { run, uid, fence } = record;
    if (!run) return "again";
    const reply = createReply(run.runId);
    if (run.terminal) {
      reply.say([...linesSince(run.lines, from), run.terminal]);
      return reply;
    }
    const thread = held.get(uid);
    if (thread?.run?.runId === run.runId) thread.attach(reply, from);
    else if (fence && held.isOurs(fence)) {
      // The store has the claim already, and its answer is on its way here.
      await held.claimEnded(fence);
      return "again";
    } else following.follow(record, reply, from);
    return reply;
  };
}
