import type { ThreadEvent } from "../../../machines/thread.ts";
import { handOffOf } from "../../domain/threads/hand-off.ts";
import { NewerRecord, StoreUnavailable, UnreadableRecord } from "../../store.ts";
import type { ThreadRecord } from "../../store.ts";
import type { Claims } from "../hold/claims.ts";
import { createLeftAlone } from "./left-alone.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { Following } from "../following/following.ts";
import type { HeldThread } from "../hold/held-thread.ts";
import type { Mend } from "./mend.ts";
import type { Stops } from "../say/stops.ts";

/** What the sweep (recovery.ts) does with a thread that has no living holder. */
export interface TakeUp {
  /** Takes up a thread whose holder is dead: its run from the last saved step, or its queue. */
  take(uid: string, fence: string): Promise<void>;
  /** Ends a pending call, a wait for a person, or a person's silence, whose deadline has passed. */
  expire(uid: string): Promise<void>;
  /** Threads that nothing can be done about for now: the sweep skips them. */
  leftAlone(): ReadonlySet<string>;
}

/** A claim of a lost thread. */
interface Taking {
  thread: HeldThread;
  from: string;
  runId: string;
  /** False: the thread is claimed for its queue. */
  isRunning: boolean;
  /** Somebody wanted the run to end (stops.ts): the claim ends it. */
  isStopped: boolean;
  claim: () => ReturnType<HeldThread["claim"]>;
}

/** How many unanswered claims are remembered, to be sent again. */
const MOST_UNANSWERED = 256;

export function createTakeUp({
  claims,
  following,
  mend,
  stops,
  channelFault = () => null,
  handOff = () => handOffOf(undefined),
  clock,
  log,
  observer,
  isDraining,
}: Pick<ThreadDependencies, "channelFault" | "handOff" | "clock" | "log" | "observer"> & {
  claims: Claims;
  following: Following;
  mend: Mend;
  stops: Stops;
  isDraining: () => boolean;
}): TakeUp {
  const alone = createLeftAlone({ clock, log });
  /** Claims without an answer. They are sent again unchanged: a new claim would count as one more try of the step. */
  const unanswered = new Map<string, Taking>();

  /** The unanswered claim of this thread, whether or not the store has applied it. */
  function takeUnanswered(uid: string, fence: string): Taking | null {
    const taking = unanswered.get(uid);
    unanswered.delete(uid);
    if (!taking || (fence !== taking.from && fence !== taking.thread.fence)) return null;
    return { ...taking, claim: () => taking.thread.claimAgain() };
  }

  async function begin(uid: string, fence: string): Promise<Taking | null> {
    const record = await claims.load(uid);
    if (record?.fence !== fence || isDraining()) return null;
    const { slug, state, run } = record;
    // Without its channel's record the run would continue without instructions, or fail.
    const fault = channelFault(slug);
    if (fault) throw fault;
    const thread = claims.open({ uid, slug, record, traceparent: null });
    const runId = run?.runId ?? "";
    const isRunning = state === "running";
    const stop = isRunning ? stops.take(uid, runId) : null;
    const goesOn = () => (isRunning ? ({ type: "run.taken", atMs: clock.now() } as const) : null);
    return {
      thread,
      from: fence,
      runId,
      isRunning,
      isStopped: stop !== null,
      claim: () => thread.claim({ event: stop ?? goesOn(), takesFrom: fence }),
    };
  }

  function remember(uid: string, taking: Taking): void {
    const [oldest] = unanswered.keys();
    if (oldest !== undefined && unanswered.size >= MOST_UNANSWERED) unanswered.delete(oldest);
    unanswered.set(uid, taking);
  }

  /** Does the work; if part of the thread is unreadable, sets it aside and tries once more, or else skips it for a while. */
  async function tend(uid: string, lost: string | undefined, work: () => Promise<void>): Promise<void> {
    if (alone.has(uid)) return;
    try {
      await work().catch(async (error: unknown) => {
        if (!(error instanceof UnreadableRecord) || error instanceof NewerRecord) throw error;
        await mend(uid, lost);
        await work();
      });
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      alone.add(uid, error);
    }
  }

  async function take(uid: string, fence: string): Promise<void> {
    const taking = takeUnanswered(uid, fence) ?? (await begin(uid, fence));
    if (!taking || isDraining()) return;
    const { thread, from, runId, isRunning, isStopped } = taking;
    try {
      const result = await taking.claim();
      if (result.type !== "committed") return;
      // The store now names this process as holder, but nothing here holds it: mend it, then take it once more.
      if (result.unreadableNext && !isRunning) throw result.unreadableNext;
    } catch (error) {
      if (error instanceof StoreUnavailable) remember(uid, taking);
      throw error;
    }
    const { slug } = thread;
    if (isStopped) {
      log.info({ uid, runId, from }, "ended a run whose process is gone: it was stopped");
      return following.begun(thread);
    }
    log.info({ uid, runId, from, ...thread.traceFields }, "took up a run whose process is gone");
    observer.takenOver({ slug, uid, runId });
    following.begun(thread);
  }

  async function expire(uid: string): Promise<void> {
    const record = await claims.load(uid);
    // Nothing is pending, or it is held, whatever the list of deadlines says.
    const event = record && expiryOf(record);
    if (!event || record.fence) return alone.add(uid, null);
    const thread = claims.open({ uid, slug: record.slug, record, traceparent: null });
    const { type } = await thread.claim({ event });
    // It was answered meanwhile, and the list of deadlines has not heard of it.
    if (type === "unchanged") alone.add(uid, null);
  }

  function expiryOf({ slug, state }: ThreadRecord): ThreadEvent | null {
    const atMs = clock.now();
    if (state === "awaiting") return { type: "call.expired", atMs };
    const { unavailable, unanswered, waitMs } = handOff(slug);
    if (state === "waiting_for_person") return { type: "wait.expired", unavailable, atMs };
    return state === "with_person" ? { type: "answer.expired", unanswered, waitMs, atMs } : null;
  }

  return {
    take: (uid, fence) => tend(uid, fence, () => take(uid, fence)),
    expire: (uid) => tend(uid, undefined, () => expire(uid)),
    leftAlone: () => alone.all(),
  };
}
