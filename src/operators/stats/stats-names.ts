import type { RunOutcome } from "../../../machines/run.ts";

/** What is counted of a channel's day, by the names under which stores keep it. */
export type StatName =
  | "messages"
  | `runs.${RunOutcome}`
  | "inputTokens"
  | "outputTokens"
  | "handoffs"
  | "thumbsUp"
  | "thumbsDown"
  | `wait.${number}`;

export const OUTCOMES = [
  "done",
  "failed",
  "cancelled",
  "expired",
  "superseded",
] as const satisfies readonly RunOutcome[];

/**
 * Waits from a message to the first text are counted by powers of this: what is told of them is off by 5 % at most, and a
 * day has some 180 counts at most.
 */
const STEP = 1.1;

/** Under which a wait is counted. */
export function waitName(ms: number): `wait.${number}` {
  return `wait.${Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(STEP))}`;
}

/** The wait that so much of all are no longer than, in whole milliseconds; null: nobody waited. */
export function waitAt(share: number, counts: Readonly<Record<string, number>>): number | null {
  const waits = Object.entries(counts)
    .filter(([name]) => name.startsWith("wait."))
    .map(([name, count]) => ({ power: Number(name.slice("wait.".length)), count }))
    .sort((a, b) => a.power - b.power);
  const all = waits.reduce((sum, { count }) => sum + count, 0);
  let met = 0;
  for (const { power, count } of waits) {
    met += count;
    if (met >= all * share) return Math.round(STEP ** (power - 0.5));
  }
  return null;
}
