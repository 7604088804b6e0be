/** Time, passed in as a dependency: tests set it instead of sleeping. */
export interface Clock {
  /** Wall clock, Unix ms: for what is shown or expires. */
  now(): number;
  /** Monotonic ms: for durations. */
  elapsed(): number;
}

/** Timers, passed in as a dependency: a simulation runs them on simulated time. */
export interface Timers {
  /** Runs once after so many ms; does not keep the process alive. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
};

export const systemTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after so many ms. */
export function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => void timers.after(ms, resolve));
}
