import type { Clock } from "../../clock.ts";
import { RETIRED } from "../../store.ts";
import type { Heartbeat } from "../../store.ts";

/**
 * Which processes are silent: those whose heartbeat has not changed for a time, by this process's monotonic clock. Neither
 * the wall clock of this machine nor that of the store matters.
 */
export interface Silence {
  /** Asks for the heartbeats of all others, and notes them. */
  look(ask: () => Promise<Heartbeat[]>): Promise<void>;
  /** The heartbeats that have not changed for longer than this, and those of processes that have retired. */
  longerThan(ms: number): Heartbeat[];
  /** All processes that have a heartbeat. */
  known(): ReadonlySet<string>;
}

interface Seen {
  stamp: string;
  sinceMs: number;
}

export function createSilence(clock: Pick<Clock, "elapsed">): Silence {
  const seen = new Map<string, Seen>();
  let askedAtMs = 0;

  return {
    async look(ask) {
      const nowMs = clock.elapsed();
      const heartbeats = await ask();
      // Silence lasts up to the question, not up to now: the answer may have waited here while this process was paused,
      // and says nothing about that time.
      askedAtMs = nowMs;
      const answeredAtMs = clock.elapsed();
      const present = new Set(heartbeats.map(({ processId }) => processId));
      for (const processId of seen.keys()) if (!present.has(processId)) seen.delete(processId);
      for (const { processId, stamp } of heartbeats) {
        if (seen.get(processId)?.stamp !== stamp) seen.set(processId, { stamp, sinceMs: answeredAtMs });
      }
    },

    longerThan: (ms) =>
      [...seen]
        .filter(([, { stamp, sinceMs }]) => stamp === RETIRED || askedAtMs - sinceMs > ms)
        .map(([processId, { stamp }]) => ({ processId, stamp })),

    known: () => new Set(seen.keys()),
  };
}
