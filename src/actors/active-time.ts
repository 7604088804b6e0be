import type { Clock, Timers } from "../clock.ts";

/** How long a run has been active, not counting time spent waiting for the browser; and the timer of its limit. */
export interface ActiveTime {
  /** Active ms of the run: `savedMs` of earlier segments, plus the time since this segment began. */
  soFar(savedMs: number): number;
  /** Starts a segment: `onPassed` is called when the run's active time reaches the limit. */
  begin(savedMs: number, onPassed: () => void): void;
  /** The run rests: cancels the timer. */
  rest(): void;
}

/** `limitMs`: RUN_TIMEOUT_SECONDS. */
export function createActiveTime(
  { clock, timers }: { clock: Clock; timers: Timers },
  limitMs: number,
): ActiveTime {
  let begunAt = clock.elapsed();
  let callOff = () => {};

  function rest(): void {
    callOff();
    callOff = () => {};
    begunAt = clock.elapsed();
  }

  return {
    soFar: (savedMs) => savedMs + Math.round(clock.elapsed() - begunAt),

    begin(savedMs, onPassed) {
      rest();
      callOff = timers.after(Math.max(0, limitMs - savedMs), onPassed);
    },

    rest,
  };
}
