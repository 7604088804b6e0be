import { z } from "zod";
import type { ThreadEvent } from "../../../machines/thread.ts";
import { pause } from "../../clock.ts";
import { holderOf } from "../../domain/threads/fence.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { InstanceMessage, ThreadRecord } from "../../store.ts";
import { refuseDeleted } from "../delete/deleted.ts";
import { threadHost } from "../../charts/charts.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { Claim } from "../hold/claim.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import type { OnReadable } from "../recover/on-readable.ts";
import { stopEvent } from "../say/stops.ts";
import type { StopEvent, Stops } from "../say/stops.ts";

/**
 * Applies an event to a thread, wherever the thread is held, and resolves to the result. If another instance holds the
 * thread, that holder applies it, since it knows what was streamed; a holder that does not obey loses the thread.
 */
export interface BringEvent {
  <Result>(uid: string, work: EventToBring<Result>): Promise<Result>;
  /** An event from another instance for a thread that is held here; false if the message is something else. */
  receive(message: InstanceMessage): boolean;
}

export interface EventToBring<Result> {
  slug: string;
  /** The result, if the thread as just read decides it already; undefined: apply the event. Throws the Refusal. */
  judge: (snapshot: ThreadSnapshot, record: ThreadRecord | null) => Promise<Result | undefined>;
  /** The result once this process has committed the event. */
  result: (made: { itemId: string }) => Result;
  /** The claim that applies the event to a thread at rest. */
  claim: () => Claim;
  /** The event, if the holder of a run is to apply it; null: wait until the run has ended. */
  forHolder: HolderEvent | null;
  /** Of the request that begins a run; absent: it begins none. */
  traceparent?: string | null;
}

/** The events that one instance asks another to apply to a run: those that end it, and a decision about its call. */
export type HolderEvent = StopEvent | Extract<ThreadEvent, { type: "call.decided" }>;

const decided = z.object({
  type: z.literal("call.decided"),
  callId: z.string(),
  approved: z.boolean(),
  atMs: z.number(),
});
const message = z.object({
  type: z.literal("person"),
  uid: z.string(),
  event: z.union([stopEvent, decided]),
});

/** How long a holder may take to obey before it loses the thread. */
const OBEY_MS = 2_000;
/** How long to wait for a thread that others keep holding. */
const GIVE_UP_MS = 8_000;
const LOOK_MS = 50;

export function createBringEvent({
  claims,
  held,
  isSilent,
  onReadable,
  stops,
  store,
  clock,
  timers,
}: Pick<ThreadDependencies, "store" | "clock" | "timers"> & {
  claims: Claims;
  held: HeldThreads;
  isSilent: (processId: string) => boolean;
  onReadable: OnReadable;
  stops: Stops;
}): BringEvent {
  const bring = <Result>(uid: string, work: EventToBring<Result>): Promise<Result> =>
    onReadable(uid, () => attempt(uid, work));

  async function attempt<Result>(uid: string, work: EventToBring<Result>): Promise<Result> {
    const begunAt = clock.elapsed();
    const told = new Set<string>();
    for (;;) {
      const record = await claims.load(uid);
      const judged = await work.judge(
        record?.snapshot ? threadHost.thaw(record.snapshot, uid) : threadHost.initial(),
        record,
      );
      if (judged !== undefined) return judged;
      const waited = clock.elapsed() - begunAt;
      if (waited > GIVE_UP_MS) throw new Refusal("unavailable", "The thread is busy", 1);
      const fence = record?.fence ?? null;
      const isLost = fence !== null && (isSilent(holderOf(fence)) || (work.forHolder && waited > OBEY_MS));
      if (fence === null || isLost) {
        const made = await claimWith(uid, record, fence, work);
        if (made) return work.result(made);
      } else if (work.forHolder) {
        const { forHolder } = work;
        tell(uid, fence, forHolder, told);
        // Whoever takes a dead holder's run up finds the decision's call waiting as before.
        if (record?.run && forHolder.type !== "call.decided")
          stops.ask({ uid, runId: record.run.runId, event: forHolder });
      }
      await pause(timers, LOOK_MS);
    }
  }

  /** null: the thread changed meanwhile. */
  async function claimWith<Result>(
    uid: string,
    record: ThreadRecord | null,
    takesFrom: string | null,
    work: EventToBring<Result>,
  ): Promise<{ itemId: string } | null> {
    const thread = claims.open({ uid, slug: work.slug, record, traceparent: work.traceparent ?? null });
    const takes = takesFrom === null ? {} : { takesFrom };
    const { type } = await thread.claim({ ...work.claim(), ...takes });
    if (type === "deleted") throw refuseDeleted();
    return type === "committed" ? { itemId: String((record?.messageCount ?? 0) + 1) } : null;
  }

  /** Once for each holder: a late message must not arrive twice. */
  function tell(uid: string, fence: string, event: HolderEvent, told: Set<string>): void {
    if (told.has(fence)) return;
    told.add(fence);
    const thread = held.get(uid);
    if (thread?.fence === fence) void thread.receive(event);
    else store.send(holderOf(fence), { type: "person", uid, event });
  }

  return Object.assign(bring, {
    receive(received: InstanceMessage): boolean {
      if (received["type"] !== "person") return false;
      const parsed = message.safeParse(received);
      if (parsed.success) void held.get(parsed.data.uid)?.receive(parsed.data.event);
      return true;
    },
  });
}
