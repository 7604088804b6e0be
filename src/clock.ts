/** Time, from outside: tests set it instead of sleeping. */
export interface Clock {
  /** Wall clock, Unix ms: for what is shown or expires. */
  now(): number;
  /** Monotonic ms: for durations. */
  elapsed(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
};
