import type { Clock, Timers } from "../clock.ts";

/** How long a run has been active, time waiting on the browser not counted, and the end of its patience. */
export interface ActiveTime {
  /** Active ms of the run: `savedMs` of earlier segments, and what has passed since this one began. */
  soFar(savedMs: number): number;
  /** A segment begins: `onPassed` is called when the run has been active for the limit. */
  begin(savedMs: number, onPassed: () => void): void;
  /** The run rests: nobody is called any more. */
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
