import { claimOf } from "../../../domain/threads/message-claim.ts";
import type { UserMessage } from "../../../domain/threads/message.ts";
import type { SaidBefore, ThreadStore } from "../../../store/threads.ts";
import { sealedWaiting } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import type { Check } from "../../engine.ts";
import { waitingKind } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { Codec } from "../../sealing.ts";
import type { StepsContext } from "../context.ts";
import { untilApplied } from "../until-applied.ts";
import { claimWrite, itself, saidBefore, unclaimed } from "./claims.ts";
import { isDeleted, lookUp, waitingRunsOf } from "./facts.ts";
import type { Facts, KnownFacts } from "./facts.ts";
import { readField } from "./read-field.ts";

export type Joined =
  | { type: "waiting" | "full"; fence: string }
  | { type: "free" }
  | { type: "deleted" }
  | SaidBefore;

/** `facts`: as far as the caller knows them; they may be stale. */
export type JoinQueue = (
  uid: string,
  message: UserMessage,
  known: { max: number; facts: Facts | undefined },
) => Promise<Joined>;

/** A step that was stopped may have left a message without the claim of its id. */
export type CompleteClaim = (uid: string, message: UserMessage, facts: Facts) => Promise<void>;

/**
 * Adds a message to a held thread's queue once, by its run id: not if it already waits, or was started since. The header
 * says which messages wait, so its write makes the message wait.
 */
export function queueSteps(
  { engine, codec }: StepsContext,
  known: KnownFacts,
): { join: JoinQueue; completeClaim: CompleteClaim } & Pick<ThreadStore, "wait" | "waitingRuns"> {
  /** False: the facts are stale. */
  async function append(uid: string, message: UserMessage, facts: Facts): Promise<boolean> {
    const { runId } = message;
    const seal = await sealOf(uid, message, facts);
    const claim = claimOf(message);
    const header = tables.header.key(uid);
    const waiting = facts.waiting ? `${facts.waiting} ${runId}` : runId;
    const checks: Check[] = [
      { check: "field", key: header, field: HEADER.fence, is: [facts.fence] },
      { check: "field", key: header, field: HEADER.waiting, is: [facts.waiting] },
      { check: "field", key: header, field: HEADER.runId, is: [facts.runId] },
      { check: "field", key: tables.runs.key(uid), field: runId, is: [null] },
    ];
    if (claim) checks.push(unclaimed(uid, claim));
    const text = JSON.stringify(waitingKind.stored(seal ? sealedWaiting(message, seal) : message));
    known.forget(uid);
    const applied = await engine.apply({
      name: "wait",
      slot: slotOf(header),
      checks,
      writes: [
        { write: "set", key: tables.waiting.key(uid), fields: [[runId, text]] },
        { write: "set", key: header, fields: [[HEADER.waiting, waiting]] },
      ],
      after: claim ? [claimWrite(uid, claim, seal)] : [],
    });
    if (applied.type === "failed") return false;
    known.set(uid, { ...facts, waiting });
    return true;
  }

  function sealOf(uid: string, { userId }: UserMessage, { slug }: Facts): ReturnType<Codec["sealOf"]> {
    return codec.sealOf({ uid, slug, userId });
  }

  const completeClaim: CompleteClaim = async (uid, message, facts) => {
    const claim = claimOf(message);
    if (!claim) return;
    const slot = slotOf(tables.claims.key(uid));
    const seal = await sealOf(uid, message, facts);
    const checks = [unclaimed(uid, claim)];
    await engine.apply({ name: "wait", slot, checks, writes: [claimWrite(uid, claim, seal)] });
  };

  const join: JoinQueue = (uid, message, { max, facts: mayBe }) => {
    const { runId, clientMessageId } = message;
    let facts = mayBe && mayJoin(mayBe, runId, max) ? mayBe : undefined;
    return untilApplied<Joined>(`put a message into the queue of thread ${uid}`, async () => {
      if (!facts) {
        const seen = await lookUp(engine, uid, { clientMessageId, runId, name: "wait" });
        const claim = claimOf(message);
        if (isDeleted(seen.facts)) return { type: "deleted" };
        const { claimed } = seen;
        if (claim && claimed !== null) return codec.read(uid, (open) => saidBefore(claim, claimed, open));
        const { fence, waiting } = seen.facts;
        const runs = waitingRunsOf(waiting);
        if (seen.hasBegun || runs.includes(runId)) {
          await completeClaim(uid, message, seen.facts);
          return fence === null ? itself(message) : { type: "waiting", fence };
        }
        if (fence === null) return { type: "free" };
        if (runs.length >= max) return { type: "full", fence };
        facts = seen.facts;
      }
      const { fence } = facts;
      const isDone = await append(uid, message, facts);
      facts = undefined;
      return isDone && fence !== null ? { type: "waiting", fence } : undefined;
    });
  };

  return {
    join,
    completeClaim,

    async wait(uid, message, max) {
      const joined = await join(uid, message, { max, facts: known.get(uid) });
      return joined.type === "full" ? { type: "full" } : joined;
    },

    async waitingRuns(uid) {
      const header = tables.header.key(uid);
      return waitingRunsOf(await readField(engine, header, HEADER.waiting, { name: "waitingRuns" }));
    },
  };
}

function mayJoin(facts: Facts, runId: string, max: number): boolean {
  if (facts.fence === null || isDeleted(facts) || facts.runId === runId) return false;
  const runs = waitingRunsOf(facts.waiting);
  return runs.length < max && !runs.includes(runId);
}
