import { Refusal } from "../domain/refusal.ts";
import type { SaidBefore } from "../store.ts";
import type { FollowRun } from "./follow-run.ts";
import type { Reply } from "./reply.ts";

/** The stream of the run that a message's first saying began. Refusal("invalid") where that one had another text. */
export type Repeat = (uid: string, said: SaidBefore) => Promise<Reply>;

export function createRepeat(followRun: FollowRun): Repeat {
  return async (uid, { runId, isSameText }) => {
    if (!isSameText) throw new Refusal("invalid", "This clientMessageId was given to another text");
    const reply = await followRun(uid, runId);
    // A failover has taken it back since its id was read: the next repeat says it anew.
    if (!reply) throw new Refusal("unavailable", "The message is gone", 1);
    return reply;
  };
}
