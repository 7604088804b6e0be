import { claimOf } from "../../domain/message-claim.ts";
import type { MessageClaim } from "../../domain/message-claim.ts";
import type { UserMessage } from "../../domain/message.ts";
import { UnreadableRecord } from "../../store.ts";
import type { CommitResult, SaidBefore, ThreadCommit } from "../../store/threads.ts";
import { answererSince } from "../answerer-since.ts";
import { newHeader } from "./thread-records.ts";
import type { Header, ThreadRecords } from "./thread-records.ts";

/** The atomic change of a thread. Within a change: reads and decides everything before the first write. */
export function commitThread(records: ThreadRecords, commit: ThreadCommit): CommitResult {
  const { uid } = commit;
  if (records.isDeleted(uid)) return { type: "deleted" };
  const header = records.header(uid) ?? newHeader(commit.slug);
  if (header.lastOp?.opId === commit.opId) return answer(records, commit, header.lastOp.result);

  const saidBefore = commit.orWait
    ? findClaim(records, uid, claimOf(commit.orWait.message))
    : findClaim(records, uid, commit.claimsId ?? null);
  if (saidBefore) return saidBefore;
  const { fence } = header;
  if (fence !== null && fence !== commit.fence && fence !== commit.takesFrom) {
    if (!commit.claims || commit.orWait === null) return { type: "fenced" };
    const joined = joinQueue(records, { uid, header, ...commit.orWait });
    return { type: joined, fence };
  }
  if (!commit.claims && fence !== commit.fence) return { type: "fenced" };
  if (header.rev !== commit.rev) return { type: "changed" };
  if (commit.claims && (header.lastOp?.opId ?? null) !== commit.readOp) return { type: "changed" };
  if (commit.startsWaiting !== null && header.waiting[0] !== commit.startsWaiting) return { type: "changed" };
  return apply(records, header, commit);
}

function apply(records: ThreadRecords, header: Header, commit: ThreadCommit): CommitResult {
  const { uid, run, endedRun, messages, startsWaiting } = commit;
  const waiting = startsWaiting === null ? header.waiting : header.waiting.slice(1);
  const head = waiting[0];
  const { next, ...unreadable } = waitingNext(records, uid, head);
  const fence = commit.holds || head !== undefined ? commit.fence : null;
  const waits = commit.state === "awaiting" || commit.state === "waiting_for_person";
  const dueAtMs = waits && fence === null ? commit.deadlineMs : null;
  const result = { type: "committed" as const, rev: header.rev + 1, next };

  let { runCount } = header;
  if (endedRun !== null) runCount = records.listRun(uid, endedRun, runCount);
  if (run !== null) {
    runCount = records.listRun(uid, run, runCount);
    records.putRun(uid, run);
  }
  for (const [index, message] of messages.entries()) {
    records.putMessage(uid, header.messageCount + index + 1, message);
  }
  const lastMessage = messages.at(-1);
  const changedAtMs = answererSince(commit.snapshot);
  if (lastMessage || changedAtMs > answererSince(header.snapshot)) {
    const known = records.orders.activity(header.slug, uid) ?? 0;
    // Times only grow: a thread that was created by a clock that is ahead keeps its place.
    const atMs = Math.max(known, lastMessage?.createdAtMs ?? 0, changedAtMs);
    records.orders.putActivity(header.slug, uid, atMs);
  } else if (header.state !== commit.state) records.orders.putChange(header.slug, uid, commit.atMs);
  records.orders.putState(header.slug, uid, commit.state);
  if (commit.orWait) claimMessage(records, uid, commit.orWait.message);
  if (commit.claimsId) records.putClaim(uid, commit.claimsId);
  if (startsWaiting !== null) records.removeWaiting(uid, startsWaiting);
  const { tells = [] } = commit;
  const { told = 0 } = header;
  const unqueued = records.outbox.tell({ slug: header.slug, uid, told }, tells);
  records.moveHold(uid, header.fence, fence);
  records.moveDeadline(uid, header.dueAtMs, dueAtMs);
  records.putHeader(uid, {
    slug: header.slug,
    createdAtMs: header.createdAtMs ?? commit.atMs,
    rev: result.rev,
    fence,
    state: commit.state,
    snapshot: commit.snapshot,
    messageCount: header.messageCount + messages.length,
    runCount,
    waiting,
    dueAtMs,
    lastOp: { opId: commit.opId, result },
    ...(told + tells.length > 0 ? { told: told + tells.length } : {}),
  });
  const telling = tells.length > 0 ? { unqueued } : {};
  return answer(records, commit, { ...result, ...unreadable, ...telling });
}

/** The commit is done, even if the next waiting message is unreadable. */
function waitingNext(
  records: ThreadRecords,
  uid: string,
  head: string | undefined,
): { next: UserMessage | null; unreadableNext?: UnreadableRecord } {
  try {
    return { next: head === undefined ? null : (records.waiting(uid, head) ?? null) };
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    return { next: null, unreadableNext: error };
  }
}

/** Adds the thread's catalog if a waiting message was started. */
function answer(
  records: ThreadRecords,
  { uid, startsWaiting }: ThreadCommit,
  result: CommitResult,
): CommitResult {
  if (result.type !== "committed" || startsWaiting === null) return result;
  return { ...result, catalog: records.catalog(uid) };
}

/** Null: the message has no id of its own, or nothing has claimed that id. */
export function findClaim(
  records: ThreadRecords,
  uid: string,
  claim: MessageClaim | null,
): SaidBefore | null {
  const known = claim && records.claim(uid, claim.clientMessageId);
  if (!known) return null;
  return { type: "said-before", runId: known.runId, isSameText: known.textHash === claim.textHash };
}

function claimMessage(records: ThreadRecords, uid: string, message: UserMessage): void {
  const claim = claimOf(message);
  if (claim) records.putClaim(uid, claim);
}

/** Adds the message to a held thread's queue once, by its run id: not if it already waits, or was started since. */
export function joinQueue(
  records: ThreadRecords,
  { uid, header, message, max }: { uid: string; header: Header; message: UserMessage; max: number },
): "waiting" | "full" {
  const { runId } = message;
  if (header.waiting.includes(runId) || records.wasStarted(uid, runId)) return "waiting";
  if (header.waiting.length >= max) return "full";
  records.putWaiting(uid, message);
  claimMessage(records, uid, message);
  records.putHeader(uid, { ...header, waiting: [...header.waiting, runId] });
  return "waiting";
}
