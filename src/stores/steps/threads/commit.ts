import { claimOf } from "../../../domain/threads/message-claim.ts";
import type { UserMessage } from "../../../domain/threads/message.ts";
import { UnreadableRecord } from "../../../store.ts";
import type { ToldRef } from "../../../store/outbox.ts";
import type { CommitResult, ThreadCommit } from "../../../store/threads.ts";
import { openedSnapshot, openedWaiting } from "../../content-keys/sealed-records.ts";
import type { Open } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import type { Answers, Read, Write } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { readUserMessage } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { Codec } from "../../sealing.ts";
import type { StepsContext } from "../context.ts";
import { untilApplied } from "../until-applied.ts";
import { itself, saidBefore } from "./claims.ts";
import { commitStep, writesAfter } from "./commit-writes.ts";
import type { Committed } from "./commit-writes.ts";
import { isDeleted, lookUp, waitingRunsOf } from "./facts.ts";
import type { Facts, KnownFacts } from "./facts.ts";
import type { CompleteClaim, JoinQueue } from "./queue.ts";
import { catalogFrom } from "./records.ts";
import { unqueuedOf, unqueuedRead } from "./tellings.ts";
import { noteWatched } from "./watching.ts";

interface Parts {
  known: KnownFacts;
  join: JoinQueue;
  completeClaim: CompleteClaim;
  /** Called once, before the first step is sent; what it returns is written with it. */
  committing: (commit: ThreadCommit) => readonly Write[];
}

/**
 * A commit on facts that this process knows is one step. If it knows none that fit, or they turn out stale, it reads them
 * first. Only facts that were just read refuse a commit.
 */
export function commitSteps(
  { engine, codec }: StepsContext,
  { known, join, completeClaim, committing }: Parts,
) {
  /** Undefined: another commit has followed. */
  async function repeat(
    committed: Committed,
    { facts, isSame }: { facts: Facts; isSame: boolean },
  ): Promise<CommitResult | undefined> {
    const { commit } = committed;
    const { uid, slug, opId } = commit;
    const next = facts.hasNext ? waitingRunsOf(facts.waiting)[0] : undefined;
    const header = tables.header.key(uid);
    const applied = await engine.apply({
      name: "commit",
      slot: slotOf(header),
      checks: [{ check: "field", key: header, field: HEADER.op, is: [opId] }],
      // Another commit under the same name: the first one's answer, and nothing to complete.
      writes: isSame ? writesAfter(committed, { before: null, facts }) : [],
      reads: readsOf(commit, { next, isWatched: true }),
    });
    if (applied.type === "failed") return undefined;
    const { reads } = applied;
    return codec.read(uid, (open) =>
      answerOf(commit, { rev: facts.rev, reads, open }, (members) =>
        unqueuedOf({ uid, slug, told: Number(facts.told ?? 0) }, members),
      ),
    );
  }

  /** Undefined: the facts are stale. */
  async function apply(
    committed: Committed,
    before: Facts,
    orders: readonly Write[],
  ): Promise<CommitResult | undefined> {
    const { commit } = committed;
    const { uid, slug } = commit;
    const { checks, writes, after, facts, refs } = commitStep(committed, before);
    // Unless it succeeds, nothing is known.
    known.forget(uid);
    // Without `op`: sent again, it fails, and is then completed as a repeat, unless it is another commit of that name.
    const applied = await engine.apply({
      name: "commit",
      slot: slotOf(tables.header.key(uid)),
      checks,
      writes: orders.length > 0 ? [...orders, ...writes] : writes,
      after,
      reads: readsOf(commit, {
        next: facts.hasNext ? waitingRunsOf(facts.waiting)[0] : undefined,
        // Whoever watched before there was a header has left nothing in it.
        isWatched: before.op === null || Boolean(before.watchedToMs),
      }),
    });
    if (applied.type === "failed") return undefined;
    const { reads } = applied;
    if (before.op === null && reads[0]?.length)
      facts.watchedToMs = await noteWatched(engine, uid, commit.atMs);
    known.set(uid, facts);
    return codec.read(uid, (open) =>
      answerOf(commit, { rev: facts.rev, reads, open }, (members) => [
        ...unqueuedOf({ uid, slug, told: Number(before.told ?? 0) }, members),
        ...refs,
      ]),
    );
  }

  /** Reads first. `announce`: called before the first step is sent. */
  function decided(
    { commit, claim }: Omit<Committed, "seal">,
    announce: () => readonly Write[],
  ): Promise<CommitResult> {
    const { uid, orWait } = commit;
    return untilApplied<CommitResult>(`commit to thread ${uid}`, async () => {
      const { message } = orWait ?? {};
      const asked = { clientMessageId: claim?.clientMessageId, runId: message?.runId, name: "commit" };
      const { facts, snapshot, claimed, hasBegun } = await lookUp(engine, uid, asked);
      const refusal = refusalOf(commit, facts);
      if (refusal === "deleted") return { type: refusal };
      if (refusal === "repeated") {
        const isSame = await codec.read(
          uid,
          (open) => openedSnapshot(snapshot ?? "", open) === commit.snapshot,
        );
        const seal = await sealOf(commit);
        announce();
        return repeat({ commit, claim, seal }, { facts, isSame });
      }
      if (claim && claimed !== null) return codec.read(uid, (open) => saidBefore(claim, claimed, open));
      if (refusal === "fenced" && commit.claims && orWait) {
        const joined = await join(uid, orWait.message, { max: orWait.max, facts });
        return joined.type === "free" ? { type: "changed" } : joined;
      }
      if (refusal === "fenced") return { type: refusal };
      // It was applied, and others have followed before its answer came.
      if (message && hasBegun) {
        await completeClaim(uid, message, facts);
        return itself(message);
      }
      if (refusal !== null) return { type: refusal };
      const seal = await sealOf(commit);
      return apply({ commit, claim, seal }, facts, announce());
    });
  }

  function sealOf({ uid, slug, run, orWait }: ThreadCommit): ReturnType<Codec["sealOf"]> {
    return codec.sealOf({ uid, slug, userId: orWait?.message.userId ?? run?.userId ?? null });
  }

  return async function commitThread(commit: ThreadCommit): Promise<CommitResult> {
    const { uid, orWait } = commit;
    const claim = orWait ? claimOf(orWait.message) : (commit.claimsId ?? null);
    const facts = known.get(uid);
    if (facts && refusalOf(commit, facts) === null) {
      const sealed = sealOf(commit);
      const seal = sealed instanceof Promise ? await sealed : sealed;
      const orders = committing(commit);
      const result = await apply({ commit, claim, seal }, facts, orders);
      return result ?? decided({ commit, claim }, () => orders);
    }
    let orders: readonly Write[] | undefined;
    return decided({ commit, claim }, () => (orders ??= committing(commit)));
  };
}

/** Null: it can be applied to this. */
function refusalOf(commit: ThreadCommit, facts: Facts): "deleted" | "repeated" | "fenced" | "changed" | null {
  const { fence, claims, takesFrom, startsWaiting, readCatalogId = facts.catalogId } = commit;
  if (isDeleted(facts)) return "deleted";
  if (facts.op === commit.opId) return "repeated";
  const isOwn = facts.fence === fence;
  const isFree = facts.fence === null || facts.fence === takesFrom;
  if (!isOwn && !(claims && isFree)) return "fenced";
  if (facts.rev !== commit.rev) return "changed";
  if (claims && (facts.op !== commit.readOp || facts.catalogId !== readCatalogId)) return "changed";
  if (startsWaiting !== null && waitingRunsOf(facts.waiting)[0] !== startsWaiting) return "changed";
  return null;
}

type Watching = Read & { read: "range" };
type Fields = Read & { read: "fields" };
type WholeReads = readonly [Watching, Fields, Fields, Watching];
type CommitReads = readonly [] | readonly [Watching] | WholeReads;

/** `next`: the run of the message at the head of the queue. Hardly any commit needs to read anything. */
function readsOf(
  { uid, startsWaiting, tells }: ThreadCommit,
  { next, isWatched }: { next: string | undefined; isWatched: boolean },
): CommitReads {
  const watching: Watching = { read: "range", key: tables.watchers.key(uid) };
  if (next === undefined && startsWaiting === null && !tells?.length) return isWatched ? [watching] : [];
  return [
    watching,
    { read: "fields", key: tables.waiting.key(uid), fields: [next ?? ""] },
    { read: "fields", key: tables.header.key(uid), fields: [HEADER.catalog] },
    unqueuedRead(uid),
  ];
}

type Answer = Extract<CommitResult, { type: "committed" }>;

function answerOf(
  { uid, startsWaiting, tells }: ThreadCommit,
  { rev, reads, open }: { rev: number; reads: Answers<CommitReads>; open: Open },
  unqueued: (members: [string, number][]) => ToldRef[],
): Answer {
  const result: Answer = { type: "committed", rev, next: null };
  const [watching = []] = reads;
  if (watching.length > 0) result.watchers = watching.map(([process]) => process);
  if (!hasMore(reads)) return result;
  const [, [next = null], [catalog = null], members] = reads;
  if (next !== null) readNext(result, () => openedWaiting(readUserMessage(jsonValue(next), uid), open));
  if (startsWaiting !== null) result.catalog = catalogFrom(catalog, uid);
  if (tells) result.unqueued = unqueued(members);
  return result;
}

function hasMore(reads: Answers<CommitReads>): reads is Answers<WholeReads> {
  return reads.length === 4;
}

/** The commit is done: even if the next waiting message is unreadable, the answer is that it is done. */
function readNext(result: Answer, read: () => UserMessage): void {
  try {
    result.next = read();
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    result.unreadableNext = error;
  }
}
