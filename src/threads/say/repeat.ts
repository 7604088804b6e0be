import { Refusal } from "../../domain/refusal.ts";
import type { SaidBefore } from "../../store.ts";
import type { FollowRun } from "./follow-run.ts";
import type { Reply } from "../hold/reply.ts";

/** For a repeated clientMessageId: the stream of the first message's run. Refusal("invalid") if the text differs. */
export type Repeat = (uid: string, said: SaidBefore) => Promise<Reply>;

export function createRepeat(followRun: FollowRun): Repeat {
  return async (uid, { runId, isSameText }) => {
    if (!isSameText) throw new Refusal("invalid", "This clientMessageId was given to another text");
    const reply = await followRun(uid, runId);
    // A failover has undone it since its id was read: the next repeat stores it as a new message.
    if (!reply) throw new Refusal("unavailable", "The message is gone", 1);
    return reply;
  };
}
