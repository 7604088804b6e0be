import type { Approver } from "../../../machines/run.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Clock } from "../../clock.ts";
import type { BringEvent } from "../handoff/bring-event.ts";
import { nameOfState } from "../thread-state.ts";

/** Whether a call may be made that waits for approval. */
export interface Decided {
  uid: string;
  slug: string;
  callId: string;
  approved: boolean;
  /** Who decides: a call that an operator approves is nobody else's to approve. */
  by: Approver;
}

/**
 * Resolves when the decision is stored, on whichever instance the run waits; the run goes on in the streams that are open.
 * The first one counts: the same once more changes nothing. Refusal("conflict") if the call does not wait for this one's
 * approval, or was decided otherwise.
 */
export function createApprove({
  bring,
  clock,
}: {
  bring: BringEvent;
  clock: Pick<Clock, "now">;
}): (decided: Decided) => Promise<void> {
  return async ({ uid, slug, callId, approved, by }) => {
    const event = { type: "call.decided" as const, callId, approved, atMs: clock.now() };
    await bring(uid, {
      slug,
      async judge({ value, context }, record) {
        const before = record?.run?.decided?.find((one) => one.callId === callId);
        if (before?.approved === approved) return true;
        if (before) throw new Refusal("conflict", "It was decided otherwise before");
        const [call] = context.run?.calls ?? [];
        const waits = nameOfState(value) === "running.awaitingApproval" && call?.callId === callId;
        if (!waits || call.confirm !== by) {
          throw new Refusal("conflict", "No call of this id waits for this approval");
        }
        return undefined;
      },
      result: () => true,
      claim: () => ({ event }),
      forHolder: event,
    });
  };
}
