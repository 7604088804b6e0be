import { setTimeout as timer } from "node:timers/promises";
import { PassingFault } from "./faults.ts";

/** Resolves after that many ms; rejects when the signal is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

const MAX_TRIES = 3;
/** The pause doubles from here, and half of it is random, so that many turns do not retry in step. */
const FIRST_PAUSE_MS = 400;
/** A server that asks for a longer pause is not tried again: no visitor waits that long. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * Tries again after a PassingFault if `mayRetry` allows it, at most three times in total. Rejects with the signal's
 * reason if it is aborted during a pause.
 *
 * The openai package's own retries are off: their pauses cannot be aborted, they take silence for a lost connection,
 * and they do not see faults inside a stream.
 */
export async function withRetries<T>(options: {
  attempt: () => Promise<T>;
  mayRetry: () => boolean;
  signal: AbortSignal;
  /** Tries in total; default 3. */
  tries?: number;
  pause: Pause;
}): Promise<T> {
  const { attempt, mayRetry, signal, tries = MAX_TRIES, pause } = options;
  for (let nth = 1; ; nth += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PassingFault) || nth >= tries || !mayRetry()) throw error;
      const pauseMs = error.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (nth - 1) * (0.5 + Math.random() / 2);
      if (pauseMs > LONGEST_PAUSE_MS) throw error;
      await pause(pauseMs, signal).catch(() => signal.throwIfAborted());
    }
  }
}

export const realPause: Pause = (ms, signal) => timer(ms, undefined, { signal });
