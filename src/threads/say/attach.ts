import { areInParts } from "../../domain/threads/kept-text.ts";
import type { Store, ThreadRecord } from "../../store.ts";
import type { Expire } from "./expire.ts";
import type { Following } from "../following/following.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import { createReply } from "../hold/reply.ts";
import type { Reply } from "../hold/reply.ts";
import { linesSince } from "../hold/run-log.ts";
import { toldInParts } from "./told-in-parts.ts";

/**
 * Reopens the stream of a record's run from a position: the run may have ended its stream, be active here, or be active
 * on another instance. "again": reload the record; the thread changed meanwhile, or text that is needed was left in parts.
 */
export type Attach = (record: ThreadRecord, from: number) => Promise<Reply | "again">;

export function createAttach(
  held: HeldThreads,
  following: Following,
  store: Pick<Store, "keptText">,
  expire: Expire,
): Attach {
  return async (record, from) => {
    const { run, uid, fence } = record;
    if (!run || (await expire(record))) return "again";
    const { runId, lines, kept, terminal } = run;
    const inParts = areInParts(lines);
    if (terminal && inParts) {
      return toldInParts(store, { uid, runId, lines, parts: kept?.parts ?? 0, terminal, from });
    }
    const reply = createReply(run.runId);
    if (run.terminal) {
      reply.say([...linesSince(run.lines, from), run.terminal]);
      return reply;
    }
    const here = held.get(uid);
    if (here?.isLostBy(record)) here.interrupt();
    const thread = held.get(uid);
    if (thread?.run?.runId === run.runId) thread.attach(reply, from);
    else if (fence && held.isOurs(fence)) {
      // The claim is in the store already, and its answer is on the way.
      await held.claimEnded(fence);
      return "again";
    } else if (inParts) return "again";
    else following.follow(record, reply, from);
    return reply;
  };
}
