import type { Clock, Timers } from "../../clock.ts";

/** How long a run has been active, not counting time spent waiting for the visitor; and the timer of its limit. */
export interface ActiveTime {
  /** Active ms of the run: what was saved with it, plus the time since then. */
  soFar(savedMs: number): number;
  /**
   * A run's active time was saved: counts on from there, not from the end of its save. A run that has rested, or another
   * one, begins to be counted. `onPassed` is called when the time reaches the limit.
   */
  count(run: { runId: string; activeMs: number }, onPassed: () => void): void;
  /** A call of the run waits for the visitor: the time stands still. */
  pause(): void;
  goOn(): void;
  /** The run rests: cancels the timer. */
  rest(): void;
}

interface Counted {
  runId: string;
  savedMs: number;
  /** The moment that `savedMs` is of. */
  atMs: number;
  onPassed: () => void;
}

/** `limitMs`: RUN_TIMEOUT_SECONDS. */
export function createActiveTime(
  { clock, timers }: { clock: Clock; timers: Timers },
  limitMs: number,
): ActiveTime {
  let counted: Counted | null = null;
  /** The ms since `savedMs` when the time was stopped; null: it runs. */
  let pausedAt: number | null = null;
  let callOff = () => {};

  const sinceMs = () => pausedAt ?? (counted ? Math.round(clock.elapsed() - counted.atMs) : 0);

  function arm(): void {
    callOff();
    if (counted === null || pausedAt !== null) return;
    callOff = timers.after(Math.max(0, limitMs - counted.savedMs - sinceMs()), counted.onPassed);
  }

  return {
    soFar: (savedMs) => savedMs + sinceMs(),

    count({ runId, activeMs }, onPassed) {
      const before = counted?.runId === runId ? counted : null;
      const gainedMs = before ? activeMs - before.savedMs : 0;
      if (before === null) pausedAt = null;
      else if (pausedAt !== null) pausedAt -= gainedMs;
      const atMs = before ? before.atMs + gainedMs : clock.elapsed();
      counted = { runId, savedMs: activeMs, atMs, onPassed };
      arm();
    },

    pause() {
      if (counted !== null) pausedAt ??= sinceMs();
      callOff();
    },

    goOn() {
      if (counted === null || pausedAt === null) return;
      counted.atMs = clock.elapsed() - pausedAt;
      pausedAt = null;
      arm();
    },

    rest() {
      callOff();
      counted = null;
      pausedAt = null;
    },
  };
}
