import type { Clock, Timers } from "../../clock.ts";

/** How long a run has been active, not counting time spent waiting for the browser; and the timer of its limit. */
export interface ActiveTime {
  /** Active ms of the run: what was saved with it, plus the time since then. */
  soFar(savedMs: number): number;
  /**
   * A run's active time was saved: counts on from there, not from the end of its save. A run that has rested, or another
   * one, begins to be counted. `onPassed` is called when the time reaches the limit.
   */
  count(run: { runId: string; activeMs: number }, onPassed: () => void): void;
  /** The run rests: cancels the timer. */
  rest(): void;
}

/** `limitMs`: RUN_TIMEOUT_SECONDS. */
export function createActiveTime(
  { clock, timers }: { clock: Clock; timers: Timers },
  limitMs: number,
): ActiveTime {
  /** `atMs`: the moment that `savedMs` is of. */
  let counted: { runId: string; savedMs: number; atMs: number } | null = null;
  let callOff = () => {};

  const sinceMs = () => (counted ? Math.round(clock.elapsed() - counted.atMs) : 0);

  return {
    soFar: (savedMs) => savedMs + sinceMs(),

    count({ runId, activeMs }, onPassed) {
      const atMs = counted?.runId === runId ? counted.atMs + activeMs - counted.savedMs : clock.elapsed();
      counted = { runId, savedMs: activeMs, atMs };
      callOff();
      callOff = timers.after(Math.max(0, limitMs - activeMs - sinceMs()), onPassed);
    },

    rest() {
      callOff();
      counted = null;
    },
  };
}
