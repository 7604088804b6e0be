import { holderOf } from "../../../domain/threads/fence.ts";
import { rangesFrom, rangesText, withHidden } from "../../../domain/threads/branches.ts";
import type { Message, MessageClaim, RunRecord } from "../../../domain/threads/message.ts";
import type { ToldRef } from "../../../store/outbox.ts";
import { summaryFrom } from "../../../store/threads.ts";
import type { ThreadCommit } from "../../../store/threads.ts";
import { waitsAlone } from "../../busy-states.ts";
import {
  sealedMessage,
  sealedRun,
  sealedSummary,
  snapshotSealed,
} from "../../content-keys/sealed-records.ts";
import type { Seal } from "../../content-keys/sealed-records.ts";
import { entryText, textOfEntry } from "../../engine.ts";
import type { Check, Pair, Write } from "../../engine.ts";
import { messageKind, runKind, summaryKind } from "../../records/records.ts";
import { storedChars } from "../../records/stored-records.ts";
import type { StoredMessage, StoredRun } from "../../records/stored-records.ts";
import { HEADER, bucketOf, tables } from "../../tables.ts";
import { fieldIs } from "../field-is.ts";
import { answererWrite } from "./answerers.ts";
import { claimWrite, unclaimed } from "./claims.ts";
import type { Facts } from "./facts.ts";
import { SUMMARY_FIELD } from "./history-summary.ts";
import { tellingWrites } from "./tellings.ts";

/** A commit as a step: what it checks and writes, and what is known afterwards. */
export interface CommitStep {
  checks: Check[];
  /** The header comes last. */
  writes: Write[];
  after: Write[];
  facts: Facts;
  /** Events to queue. */
  refs: ToldRef[];
}

/** What is committed, and what is claimed and sealed with it. */
export interface Committed {
  commit: ThreadCommit;
  /** The client's id of its message. */
  claim: MessageClaim | null;
  /** Null: nothing is encrypted. */
  seal: Seal | null;
}

export function commitStep(committed: Committed, before: Facts): CommitStep {
  const { commit, claim, seal } = committed;
  const { uid, slug, atMs, messages, tells = [] } = commit;
  const facts = factsAfter(commit, before);
  const header = tables.header.key(uid);
  const checks: Check[] = [fieldIs(header, HEADER.op, before.op)];
  // Nobody joins the queue of a thread that is not held.
  if (before.fence !== null) checks.push(fieldIs(header, HEADER.waiting, before.waiting));
  if (commit.claims && commit.readCatalogId !== undefined)
    checks.push(fieldIs(header, HEADER.catalogId, commit.readCatalogId));
  // Whoever watched before there was a header has left nothing in it.
  if (before.op !== null) checks.push(fieldIs(header, HEADER.watchedToMs, before.watchedToMs));
  if (claim) checks.push(unclaimed(uid, claim));

  const writes: Write[] = [];
  if (messages.length > 0) {
    const fields = messages.map((message, index) => {
      const number = before.messages + index + 1;
      return seal ? sealedEntry(number, message, seal) : entryOf(number, message);
    });
    writes.push({ write: "set", key: tables.messages.key(uid), fields });
  }
  if (facts.fence !== null && facts.fence !== before.fence) holdIn(writes, uid, facts.fence);
  if (facts.isDue) {
    const members = [[uid, commit.deadlineMs ?? 0]] as const;
    writes.push({ write: "put", key: tables.due.key(bucketOf(uid)), members });
  }
  let refs: ToldRef[] = [];
  if (tells.length > 0) {
    checks.push(fieldIs(header, HEADER.told, before.told));
    const telling = tellingWrites({ uid, slug, atMs, told: Number(before.told ?? 0) }, tells, seal);
    refs = telling.refs;
    writes.push(...telling.writes);
  }
  if (commit.hides?.summarized)
    writes.push({ write: "remove", key: tables.parts.key(uid), fields: [SUMMARY_FIELD] });
  if (commit.answerer) writes.push(answererWrite(uid, commit.answerer, seal));
  const run = commit.run && runText(commit, commit.run, seal, facts);
  const snapshot = seal ? snapshotSealed(commit.snapshot, seal) : commit.snapshot;
  writes.push({ write: "set", key: header, fields: headerFields(commit, { run, snapshot }, before, facts) });
  return { checks, writes, after: writesAfter(committed, { before, facts }), facts, refs };
}

function factsAfter(commit: ThreadCommit, before: Facts): Facts {
  const { state, startsWaiting, deadlineMs, tells, run, atMs } = commit;
  const waiting =
    startsWaiting === null || before.waiting === null
      ? before.waiting
      : before.waiting.slice(startsWaiting.length + 1);
  const hasNext = Boolean(waiting);
  const isHeld = commit.holds || hasNext;
  return {
    op: commit.opId,
    rev: before.rev + 1,
    fence: isHeld ? commit.fence : null,
    state,
    messages: before.messages + commit.messages.length,
    waiting,
    told: tells && tells.length > 0 ? String(Number(before.told ?? 0) + tells.length) : before.told,
    hasNext,
    isDue: waitsAlone(state) && !isHeld && deadlineMs !== null,
    watchedToMs: before.watchedToMs && Number(before.watchedToMs) < atMs ? "" : before.watchedToMs,
    catalogId: before.catalogId,
    runId: run ? run.runId : before.runId,
    slug: before.slug ?? commit.slug,
    hasTime: true,
    hidden: commit.hides ? rangesText(withHidden(rangesFrom(before.hidden), commit.hides)) : before.hidden,
    sealedRun: before.sealedRun,
  };
}

/** What changes in the header. */
function headerFields(
  commit: ThreadCommit,
  { run, snapshot }: { run: string | null; snapshot: string },
  before: Facts,
  facts: Facts,
): Pair[] {
  const fields: Pair[] = [
    [HEADER.op, commit.opId],
    [HEADER.rev, String(facts.rev)],
    [HEADER.snapshot, snapshot],
  ];
  if (commit.state !== before.state) fields.push([HEADER.state, commit.state]);
  if (run) fields.push([HEADER.run, run]);
  if (facts.runId !== before.runId) fields.push([HEADER.runId, facts.runId ?? ""]);
  if (facts.fence !== before.fence) fields.push([HEADER.fence, facts.fence ?? ""]);
  if (facts.messages !== before.messages) fields.push([HEADER.messages, String(facts.messages)]);
  if (facts.waiting !== before.waiting) fields.push([HEADER.waiting, facts.waiting ?? ""]);
  if (facts.hasNext !== before.hasNext) fields.push([HEADER.opNext, facts.hasNext ? "1" : ""]);
  if (facts.isDue || before.isDue)
    fields.push([HEADER.dueAtMs, facts.isDue ? String(commit.deadlineMs) : ""]);
  if (facts.told !== before.told) fields.push([HEADER.told, facts.told ?? ""]);
  if (facts.watchedToMs !== before.watchedToMs) fields.push([HEADER.watchedToMs, facts.watchedToMs ?? ""]);
  if (facts.hidden !== before.hidden) fields.push([HEADER.hidden, facts.hidden ?? ""]);
  if (commit.hides?.summarized) fields.push([HEADER.summarized, ""]);
  if (before.slug === null) fields.push([HEADER.slug, commit.slug]);
  if (!before.hasTime) fields.push([HEADER.createdAtMs, String(commit.atMs)]);
  return fields;
}

/** Lists the hold of a thread that the header is about to have. */
function holdIn(writes: Write[], uid: string, fence: string): void {
  const bucket = bucketOf(uid);
  const holder = holderOf(fence);
  // Add the process to the bucket's holders before the hold. It stays listed after release.
  writes.push(
    { write: "set", key: tables.holders.key(bucket), fields: [[holder, ""]] },
    { write: "set", key: tables.held.key(bucket, holder), fields: [[uid, fence]] },
  );
}

/**
 * What follows once the header is written. `before`: null for a repeat, which does not know what was there and therefore
 * writes all that the first one may have left.
 */
export function writesAfter(
  { commit, claim, seal }: Committed,
  { before, facts }: { before: Facts | null; facts: Facts },
): Write[] {
  const { uid, startsWaiting, fence, takesFrom } = commit;
  const bucket = bucketOf(uid);
  const after: Write[] = [];
  if (claim) after.push(claimWrite(uid, claim, seal));
  if (startsWaiting !== null) {
    after.push({ write: "remove", key: tables.waiting.key(uid), fields: [startsWaiting] });
  }
  listEnded(after, { commit, seal }, facts.rev);
  const own = tables.held.key(bucket, holderOf(fence));
  const wasHeld = before === null || before.fence !== null;
  if (wasHeld && facts.fence === null) after.push({ write: "remove", key: own, fields: [uid] });
  if (takesFrom !== null && (before === null || before.fence === takesFrom)) {
    const taken = tables.held.key(bucket, holderOf(takesFrom));
    // The hold of a fence of this process's own is the one that was just written, or removed.
    if (taken !== own) after.push({ write: "remove", key: taken, fields: [uid] });
  }
  if ((before === null || before.isDue) && !facts.isDue) {
    after.push({ write: "take", key: tables.due.key(bucket), members: [uid] });
  }
  return after;
}

/** The commit's run as it is stored. `facts`: of after the commit; they get its sealed contents. */
function runText(commit: ThreadCommit, run: RunRecord, seal: Seal | null, facts: Facts): string {
  const stored = withoutReply(run, commit.messages);
  if (!seal) return JSON.stringify(runKind.stored(stored));
  const sealed = sealedRun(stored, seal, facts.sealedRun);
  facts.sealedRun = run.outcome === null ? sealed.contents : null;
  return JSON.stringify(runKind.stored(sealed.stored));
}

/** The text of a run that has ended is that of its message, and hardly any run has more than text. */
function withoutReply(run: RunRecord, messages: readonly Message[]): StoredRun {
  const [line, ...more] = run.lines;
  if (run.outcome === null || line?.type !== "delta" || line.kept || more.length > 0) return run;
  const reply = messages.find(({ runId, role }) => runId === run.runId && role === "assistant");
  return reply?.content === line.text ? { ...run, lines: [], reply: reply.id } : run;
}

function listEnded(after: Write[], { commit, seal }: Pick<Committed, "commit" | "seal">, rev: number): void {
  const { uid, run, endedRun } = commit;
  const ended = [endedRun, run].filter((one) => one !== null && one.outcome !== null) as RunRecord[];
  if (ended.length === 0) return;
  const fields = ended.map((one): Pair => {
    const summary = summaryFrom(one);
    return [one.runId, JSON.stringify(summaryKind.stored(seal ? sealedSummary(summary, seal) : summary))];
  });
  // Of two, the first one began first.
  const members = ended.map(({ runId }) => [runId, runId === endedRun?.runId ? rev - 0.5 : rev] as const);
  after.push(
    { write: "set", key: tables.runs.key(uid), fields },
    { write: "put", key: tables.runOrder.key(uid), members, mode: "new" },
  );
}

/** A message as a field of the history. */
export function entryOf(number: number, message: StoredMessage): Pair {
  const json = JSON.stringify(messageKind.stored(message));
  return [String(number), entryText(storedChars(message), json)];
}

function sealedEntry(number: number, message: Message, seal: Seal): Pair {
  const entry = entryOf(number, sealedMessage(message, seal));
  seal.remember(number, { stored: textOfEntry(entry[1]), opened: JSON.stringify(message) });
  return entry;
}
