import type { Clock } from "../clock.ts";
import type { PlainLog } from "../log.ts";
import type { Store } from "../store.ts";

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

/** How often this process says that it lives, and looks around. */
const BEAT_MS = 500;
/** Silent for so long is taken for gone: six missed beats, more than a busy process or a slow disk makes it miss. */
const SILENT_MS = 3_000;
/** How often this process looks for calls that expired: a look asks every bucket, which is most of what idleness costs. */
const DUE_MS = 1_000;
/** How often this process looks for threads that it holds in the store and has lost in memory, after a fault of the store. */
const LOST_MS = 5_000;
/** Threads taken up at once, so that a large process's death does not drown the ones that inherit from it. */
const TAKES_AT_ONCE = 16;
const DUE_AT_ONCE = 100;

export function createRecovery(parts: {
  store: Store;
  clock: Clock;
  log: PlainLog;
  /** Does this process mean to hold this fence? */
  isOurs(fence: string): boolean;
  take(uid: string, fence: string): Promise<void>;
  expire(uid: string): Promise<void>;
}): Recovery {
  const { store, clock, log } = parts;
  let silent = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let lastBeatAt = -Infinity;
  let trustsSilenceFrom = -Infinity;
  let lastDueLookAt = -Infinity;
  let lastLostLookAt = -Infinity;

  async function sweep(): Promise<void> {
    const reported = await store.beat(SILENT_MS);
    const now = clock.elapsed();
    // After a pause of our own (a store that was away) everybody looks silent: let the others speak first.
    if (now - lastBeatAt > SILENT_MS) trustsSilenceFrom = Number.isFinite(lastBeatAt) ? now + SILENT_MS : now;
    lastBeatAt = now;
    silent = new Set(now >= trustsSilenceFrom ? reported : []);

    for (const processId of silent) await inherit(processId);
    if (now - lastDueLookAt > DUE_MS) {
      lastDueLookAt = now;
      for (const uid of await store.due(clock.now(), DUE_AT_ONCE)) {
        await tryTo("end an expired call", () => parts.expire(uid));
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

  /** Threads that the store says this process holds, and nothing here knows of: a claim whose answer was lost. */
  async function takeLost(): Promise<void> {
    const held = await store.heldBy(store.processId);
    await takeAll(held.filter(({ fence }) => !parts.isOurs(fence)));
  }

  async function takeAll(held: { uid: string; fence: string }[]): Promise<void> {
    for (let i = 0; i < held.length && !stopped; i += TAKES_AT_ONCE) {
      await Promise.all(
        held
          .slice(i, i + TAKES_AT_ONCE)
          .map(({ uid, fence }) => tryTo("take up a thread", () => parts.take(uid, fence))),
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
    await tryTo("look after the threads", sweep);
    // Jitter: instances that started together do not sweep together.
    if (!stopped) timer = setTimeout(() => void tick(), BEAT_MS * (0.8 + 0.4 * Math.random())).unref();
  }

  return {
    async start() {
      await tryTo("take up the runs of an earlier process", async () => {
        await takeAll((await store.heldBy(null)).filter(({ fence }) => !parts.isOurs(fence)));
      });
      await tick();
    },

    stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
    },

    isSilent: (processId) => silent.has(processId),
  };
}
