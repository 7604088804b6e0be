import type { ThreadEvent } from "../../../machines/thread.ts";
import { pause } from "../../clock.ts";
import { holderOf } from "../../domain/threads/fence.ts";
import { StoreUnavailable } from "../../store.ts";
import type { ThreadRecord } from "../../store.ts";
import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { HeldThread } from "../hold/held-thread.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import type { Stops } from "./stops.ts";
import { hasRun } from "../thread-state.ts";

type Cancelled = Extract<ThreadEvent, { type: "run.cancelled" }>;

/** How long a run's holder may take to obey. Then another instance loses the run, and this one reports an outage. */
const OBEY_MS = 2_000;
const LOOK_MS = 100;

/**
 * Stops the active run or pending call of a thread, on whichever instance; does nothing if there is none, or if it is
 * not the named one. It ends the run
 * that the store names at the first reading, however often it reads again, and never a later run. This process's memory is
 * not asked: it may have lost the thread without noticing.
 */
export function createCancel({
  claims,
  held,
  isSilent,
  stops,
  store,
  clock,
  timers,
}: Pick<ThreadDependencies, "store" | "clock" | "timers"> & {
  claims: Claims;
  held: HeldThreads;
  /** Has this process stopped beating? */
  isSilent: (processId: string) => boolean;
  stops: Stops;
}) {
  /** `named`: the run to stop; null: whichever is active. `by`: as of the chart's event. */
  return async (uid: string, named: string | null, by?: "message"): Promise<void> => {
    const endsAt = clock.elapsed() + OBEY_MS;
    let record = await claims.load(uid);
    const runId = record?.run?.runId;
    if (runId === undefined || (named !== null && named !== runId)) return;
    const event = { type: "run.cancelled" as const, runId, by };
    while (!(await hasEnded(record, event, endsAt))) {
      await pause(timers, LOOK_MS);
      record = await claims.load(uid);
    }
  };

  /** `record`: the thread as just read. False: read it again. */
  async function hasEnded(record: ThreadRecord | null, event: Cancelled, endsAt: number): Promise<boolean> {
    const { runId } = event;
    if (record?.run?.runId !== runId || !hasRun(record.state)) return true;
    const thread = held.get(record.uid);
    // Another run here: this process is ahead of the reading, or of a store that lost writes in a failover.
    const isHere = thread?.fence === record.fence && thread?.run?.runId === runId;
    return isHere ? endsHere(thread, event, endsAt) : endsInStore(record, event, endsAt);
  }

  /** False: this process lost the thread meanwhile, and the run goes on elsewhere. */
  async function endsHere(thread: HeldThread, event: Cancelled, endsAt: number): Promise<boolean> {
    const { runId } = event;
    const handled = thread.receive(event);
    if (!(await isDone(handled, endsAt))) throw new StoreUnavailable("cancel a run");
    const { run } = thread;
    // Another run: the named one has ended, and the thread is held for the next one.
    return run?.runId === runId ? Boolean(run.outcome) : held.get(thread.uid) === thread;
  }

  /** False: the holder was notified and has not obeyed yet, or the thread changed meanwhile. */
  async function endsInStore(record: ThreadRecord, event: Cancelled, endsAt: number): Promise<boolean> {
    const { runId, by } = event;
    const { uid, fence, slug } = record;
    if (fence && !isSilent(holderOf(fence)) && clock.elapsed() < endsAt) {
      store.send(holderOf(fence), { type: "cancel", uid, runId, ...(by === undefined ? {} : { by }) });
      stops.ask({ uid, runId, event });
      return false;
    }
    const thread = claims.open({ uid, slug, record, traceparent: null });
    const takes = fence ? { takesFrom: fence } : {};
    const { type } = await thread.claim({ event, ...takes });
    return type === "committed" || type === "unchanged" || type === "deleted";
  }

  /** False: it was not done by `untilMs`. */
  async function isDone(work: Promise<void>, untilMs: number): Promise<boolean> {
    let done = false;
    const end = work.then(() => void (done = true));
    while (!done && clock.elapsed() < untilMs) await Promise.race([end, pause(timers, LOOK_MS)]);
    return done;
  }
}
