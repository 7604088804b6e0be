import type { InstanceStore } from "../store.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import type { TakeUp } from "./take-up.ts";

/**
 * The sweep: every instance says that it lives, takes up the threads of those that do not, and ends calls that expired.
 *
 * Nothing here decides who wins: two sweepers may reach for one thread, and the store's fence lets one of them have it.
 * So all that a wrong guess costs is an interrupted stream.
 */
export interface Recovery {
  /** Resolves after the first sweep: a restarted process has taken up its earlier runs by then. */
  start(): Promise<void>;
  stop(): void;
  /** Was this process not heard of lately? */
  isSilent(processId: string): boolean;
}

/** How often this process says that it lives, whatever else it is busy with. */
const BEAT_MS = 300;
/**
 * Silent for so long is taken for gone: five beats, which outlives two packets lost in a row (0.6 s) and any pause of a
 * garbage collector, so that in nine of ten deaths the runs go on within two seconds.
 */
const SILENT_MS = 1_500;
/**
 * Who is late itself gives the others as much more time: they share a store with it, and often a machine. Services that
 * starve on one core beat up to 3.4 s apart, measured; runs that they rob each other of only add to the load.
 */
const MOST_LATE_MS = 3_000;
/** What remains of that lateness after each beat on time: half of it after four seconds. */
const FORGIVEN = 0.95;
/** How often this process looks for calls that expired: a look asks every bucket, which is most of what idleness costs. */
const DUE_MS = 1_000;
/** How often this process looks for threads that it holds in the store and has lost in memory, after a fault of the store. */
const LOST_MS = 5_000;
/** Threads taken up at once, so that a large process's death does not drown the ones that inherit from it. */
const TAKES_AT_ONCE = 16;
const DUE_AT_ONCE = 100;

export function createRecovery({
  store,
  clock,
  timers,
  log,
  random = Math.random,
  isOurs,
  takeUp,
}: Pick<ThreadDependencies, "clock" | "timers" | "log" | "random"> & {
  store: Omit<InstanceStore, "retire" | "send" | "onMessage">;
  /** Does this process mean to hold by this fence? */
  isOurs: (fence: string) => boolean;
  takeUp: TakeUp;
}): Recovery {
  let silent = new Set<string>();
  let callOff = () => {};
  let looking: Promise<void> | null = null;
  let stopped = false;
  let lastBeatAt = -Infinity;
  let lateMs = 0;
  let trustsSilenceFrom = -Infinity;
  let lastDueLookAt = -Infinity;
  let lastLostLookAt = -Infinity;

  async function beat(): Promise<void> {
    const reported = await store.beat(SILENT_MS + lateMs);
    const now = clock.elapsed();
    const late = Number.isFinite(lastBeatAt) ? now - lastBeatAt - BEAT_MS : 0;
    // Held up as never lately, by an outage or a pause of our own: distrust silence until peers have had time to beat.
    if (late > lateMs + BEAT_MS) trustsSilenceFrom = now + SILENT_MS;
    lateMs = Math.min(Math.max(late, lateMs * FORGIVEN), MOST_LATE_MS);
    lastBeatAt = now;
    silent = new Set(now >= trustsSilenceFrom ? reported : []);
  }

  async function lookAround(): Promise<void> {
    const now = clock.elapsed();
    for (const processId of silent) await inherit(processId);
    if (now - lastDueLookAt > DUE_MS) {
      lastDueLookAt = now;
      for (const uid of await store.due(clock.now(), DUE_AT_ONCE, takeUp.leftAlone())) {
        await tryTo("end an expired call", () => takeUp.expire(uid));
      }
    }
    if (now - lastLostLookAt > LOST_MS) {
      lastLostLookAt = now;
      await takeLost();
    }
  }

  /** Takes up every thread of a process that is gone, and forgets it when none is left. */
  async function inherit(processId: string): Promise<void> {
    const held = await store.heldBy(processId);
    if (held.length === 0) return store.forget(processId);
    await takeAll(held);
  }

  /**
   * Threads that the store says this process holds, and nothing here knows of: a claim whose answer was lost. On the
   * embedded store also those of earlier processes, which a fault may have kept from being taken at the start.
   */
  async function takeLost(): Promise<void> {
    const held = [...(await store.heldBy(null)), ...(await store.heldBy(store.processId))];
    await takeAll(held.filter(({ fence }) => !isOurs(fence)));
  }

  async function takeAll(held: { uid: string; fence: string }[]): Promise<void> {
    for (let i = 0; i < held.length && !stopped; i += TAKES_AT_ONCE) {
      await Promise.all(
        held
          .slice(i, i + TAKES_AT_ONCE)
          .map(({ uid, fence }) => tryTo("take up a thread", () => takeUp.take(uid, fence))),
      );
    }
  }

  async function tryTo(action: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, `cannot ${action}`);
    }
  }

  async function tick(): Promise<void> {
    await tryTo("say that this process lives", async () => {
      await beat();
      // However long a look takes, the next beat does not wait for it.
      looking ??= tryTo("look after the threads", lookAround).finally(() => (looking = null));
    });
    // Jitter: instances that started together do not beat together.
    if (!stopped) callOff = timers.after(BEAT_MS * (0.8 + 0.4 * random()), () => void tick());
  }

  return {
    async start() {
      lastLostLookAt = clock.elapsed();
      await tryTo("take up the runs of an earlier process", takeLost);
      await tick();
      await looking;
    },

    stop() {
      stopped = true;
      callOff();
    },

    isSilent: (processId) => silent.has(processId),
  };
}
