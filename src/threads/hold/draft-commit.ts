import type { ThreadContext } from "../../../machines/thread.ts";
import type { RunRecord } from "../../domain/threads/message.ts";
import type { AnswererChange } from "../../domain/threads/answerer-change.ts";
import { tellingsOf } from "../../domain/threads/tellings.ts";
import type { WebhookField } from "../../domain/channels/webhook.ts";
import type { ThreadCommit, ThreadState } from "../../store.ts";
import { threadHost } from "../../charts/charts.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { PlannedChange } from "./plan-change.ts";
import { threadStateOf } from "../thread-state.ts";
import { toldEvents } from "./told-events.ts";

/** Whether a commit claims the thread or already holds it, and what it does with the queue. */
export type CommitPurpose = Pick<
  ThreadCommit,
  "claims" | "takesFrom" | "orWait" | "startsWaiting" | "claimsId" | "readCatalogId"
>;

/** The thread stays held: no claim, and no waiting message is started. */
export const GOES_ON: CommitPurpose = { claims: false, takesFrom: null, orWait: null, startsWaiting: null };

/**
 * The commit of a planned change; without one, the commit of the thread unchanged, as a claim of its queue needs it.
 * null: the thread has no run, so there is nothing to claim it for.
 */
export function draftCommit(options: {
  thread: {
    uid: string;
    slug: string;
    fence: string;
    rev: number;
    readOp: string | null;
    snapshot: ThreadSnapshot;
    run: RunRecord | null;
  };
  planned: { change: PlannedChange; next: ThreadSnapshot; answerer: AnswererChange | null } | null;
  purpose: CommitPurpose;
  opId: string;
  atMs: number;
  /** The webhooks that get its events. */
  webhooks?: readonly WebhookField[];
  newId: () => string;
}): ThreadCommit | null {
  const { thread, planned, purpose, opId, atMs, webhooks = [], newId } = options;
  const run = planned ? planned.change.run : thread.run;
  if (!run && !planned) return null;
  const next = planned?.next ?? thread.snapshot;
  const state = threadStateOf(next.value);
  const tells =
    webhooks.length > 0 && planned
      ? tellingsOf(webhooks, toldEvents({ ...planned, before: thread.snapshot, nowMs: atMs, newId }))
      : [];
  return {
    uid: thread.uid,
    slug: thread.slug,
    opId,
    fence: thread.fence,
    ...purpose,
    rev: thread.rev,
    readOp: thread.readOp,
    atMs,
    snapshot: threadHost.freeze(next),
    state,
    run,
    endedRun: planned?.change.endedRun ?? null,
    messages: planned?.change.messages ?? [],
    ...(planned?.change.hides ? { hides: planned.change.hides } : {}),
    holds: state === "running",
    deadlineMs: deadlineOf(state, next.context),
    ...(planned?.answerer ? { answerer: planned.answerer } : {}),
    ...(tells.length > 0 ? { tells } : {}),
  };
}

/** When the sweep must look at the thread even if no event arrives. */
function deadlineOf(state: ThreadState, { run, person }: ThreadContext): number | null {
  if (state === "awaiting") return run?.deadlineMs ?? null;
  return person?.deadlineMs ?? null;
}
