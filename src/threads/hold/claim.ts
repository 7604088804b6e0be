import type { ThreadEvent } from "../../../machines/thread.ts";
import type { MessageClaim } from "../../domain/threads/message-claim.ts";
import type { UserMessage } from "../../domain/threads/message.ts";
import type { CommitResult, ThreadCommit } from "../../store.ts";
import type { Planned } from "./known-thread.ts";
import type { Enclosed } from "./plan-change.ts";

/** A claim: the event that a process takes a thread with. */
export interface Claim extends Partial<Enclosed> {
  /** null: the chart is not asked; the thread is claimed to run its queue. */
  event: ThreadEvent | null;
  /** The thread's state could not be read: its active run ends (end-unreadable.ts). */
  endsUnreadable?: true;
  takesFrom?: string;
  orWait?: { message: UserMessage; max: number };
  /** The caller's own id of what comes with the event; its item, or else its run, is the one that this claim adds. */
  claimsId?: Omit<MessageClaim, "runId">;
}

/** The claim's result: the store's answer, or `unchanged` if the chart has no transition for the event. */
export type ClaimResult = CommitResult | { type: "unchanged" };

export type Committed = Extract<CommitResult, { type: "committed" }>;

/** A change and its commit; sent again unchanged if the outcome is unknown. */
export interface ClaimSent {
  planned: Planned | null;
  commit: ThreadCommit;
}

/** The caller's id is claimed for the item that the change adds to the history, or for the run that it begins. */
export function claimedId({ claimsId }: Claim, planned: Planned | null): Pick<ThreadCommit, "claimsId"> {
  const made = planned?.change.messages[0] ?? planned?.change.run;
  return claimsId && made ? { claimsId: { ...claimsId, runId: made.runId } } : {};
}
