/** Time, from outside: tests set it instead of sleeping. */
export interface Clock {
  /** Wall clock, Unix ms: for what is shown or expires. */
  now(): number;
  /** Monotonic ms: for durations. */
  elapsed(): number;
}

/** What happens later, from outside: a simulation runs it on a time of its own. */
export interface Timers {
  /** Runs once after so many ms, and keeps no process alive for it. Returns how to call it off. */
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
