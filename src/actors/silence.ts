import type { Clock } from "../clock.ts";
import { RETIRED } from "../store.ts";
import type { Heartbeat } from "../store.ts";

/**
 * Who was not heard of lately, by this process's own watch: whose heartbeat is still the one that it was then. No clock
 * that somebody may set has a say in it, neither here nor at the store.
 */
export interface Silence {
  /** Asks for the heartbeats of all others, and notes them. */
  look(ask: () => Promise<Heartbeat[]>): Promise<void>;
  /** Whose heartbeat stayed as it is for longer than this, or who has retired. */
  longerThan(ms: number): Heartbeat[];
  /** Who has a heartbeat. */
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
      // Silence is told by the store's answer, which is no older than the question: one that waited here while this
      // process was stopped says nothing of that time.
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
