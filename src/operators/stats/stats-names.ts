import type { RunOutcome } from "../../../machines/run.ts";

/** What is counted of a channel's day, by the names under which stores keep it. */
export type StatName =
  | "messages"
  | `runs.${RunOutcome}`
  | "inputTokens"
  | "outputTokens"
  | "handoffs"
  | `cost.${string}`
  | "thumbsUp"
  | "thumbsDown"
  | `csat.${number}`
  | `wait.${number}`
  | PeopleName;

const COST = "cost.";

/** Under which money is counted, in millionths of its unit. */
export function costName(currency: string): `cost.${string}` {
  return `${COST}${currency}`;
}

/** By currency, in its units; null: nothing was counted. */
export function costsIn(counts: Readonly<Record<string, number>>): Record<string, number> | null {
  const costs = Object.entries(counts).filter(([name]) => name.startsWith(COST));
  if (costs.length === 0) return null;
  return Object.fromEntries(costs.map(([name, micros]) => [name.slice(COST.length), micros / 1_000_000]));
}

/** What is counted of the hand-offs of one operator in one queue; either may be "": nobody, none. */
export type PeopleName = `people ${string}`;

/** What `waitName` counts, and what is counted one by one. */
export type PeopleCount =
  | "asked"
  | "missed"
  | "unanswered"
  | `${"wait" | "took"}.${number}`
  | `csat.${number}`;

const PEOPLE = "people ";

export function peopleName(
  { queue = "", by = "" }: { queue?: string; by?: string },
  count: PeopleCount,
): PeopleName {
  return `${PEOPLE}${JSON.stringify([queue, by])} ${count}`;
}

/** Back from a name; null: it is none. */
export function peopleCountOf(name: string): { queue: string; by: string; count: string } | null {
  if (!name.startsWith(PEOPLE)) return null;
  const end = name.lastIndexOf(" ");
  // A cast: this process's kind wrote it.
  const [queue, by] = JSON.parse(name.slice(PEOPLE.length, end)) as [string, string];
  return { queue, by, count: name.slice(end + 1) };
}

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
  return `wait.${powerOf(ms)}`;
}

/** Likewise how long something took. */
export function tookName(ms: number): `took.${number}` {
  return `took.${powerOf(ms)}`;
}

function powerOf(ms: number): number {
  return Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(STEP));
}

/** The wait that so much of all are no longer than, in whole milliseconds; null: nobody waited. `kind`: of which names. */
export function waitAt(
  share: number,
  counts: Readonly<Record<string, number>>,
  kind: "wait" | "took" = "wait",
): number | null {
  const waits = Object.entries(counts)
    .filter(([name]) => name.startsWith(`${kind}.`))
    .map(([name, count]) => ({ power: Number(name.slice(kind.length + 1)), count }))
    .sort((a, b) => a.power - b.power);
  const all = waits.reduce((sum, { count }) => sum + count, 0);
  let met = 0;
  for (const { power, count } of waits) {
    met += count;
    if (met >= all * share) return Math.round(STEP ** (power - 0.5));
  }
  return null;
}
