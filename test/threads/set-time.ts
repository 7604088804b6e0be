import type { Clock, Timers } from "../../src/clock.ts";

/** A time that passes only when the test says so. */
export interface SetTime {
  clock: Clock;
  timers: Timers;
  /** Lets so many ms pass, and runs what was due by then, in order. */
  pass(ms: number): void;
  /** How much is to run later. */
  pending(): number;
}

export function setTime(): SetTime {
  let elapsedMs = 0;
  const due = new Set<{ atMs: number; run: () => void }>();
  return {
    clock: { now: () => Date.now(), elapsed: () => elapsedMs },
    timers: {
      after(ms, run) {
        const entry = { atMs: elapsedMs + ms, run };
        due.add(entry);
        return () => due.delete(entry);
      },
    },
    pending: () => due.size,
    pass(ms) {
      elapsedMs += ms;
      const ripe = [...due].filter(({ atMs }) => atMs <= elapsedMs).toSorted((a, b) => a.atMs - b.atMs);
      for (const entry of ripe) if (due.delete(entry)) entry.run();
    },
  };
}
