const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** After the first, second, … failure; then every 12 hours. */
const PAUSES_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
];
const LATER_MS = 12 * HOUR_MS;
const JITTER = 0.2;
/** After so long without success an event is given up; it may be replayed. */
const TRIED_FOR_MS = 72 * HOUR_MS;

/** When a delivery that failed for the `attempts`th time is tried again; null: it is given up. */
export function dueAfter({
  attempts,
  happenedAtMs,
  nowMs,
  random,
}: {
  attempts: number;
  happenedAtMs: number;
  nowMs: number;
  random: () => number;
}): number | null {
  const pauseMs = PAUSES_MS[attempts - 1] ?? LATER_MS;
  const dueMs = Math.round(nowMs + pauseMs * (1 + JITTER * (2 * random() - 1)));
  return dueMs > happenedAtMs + TRIED_FOR_MS ? null : dueMs;
}
