import { dayOf, daysOf } from "../../domain/day.ts";
import { STATS_KEPT_DAYS } from "../../store.ts";
import type { DayStats, StatsStore } from "../../store.ts";
import { csatOf } from "./csat.ts";
import { costsIn, OUTCOMES, waitAt } from "./stats-names.ts";

const DAY_MS = 86_400_000;
/** Days of an answer by default. */
const DAYS = 30;
/** Channels that are read at once: each takes one read for each of its days. */
const AT_ONCE = 10;

/** From a day to another, both included; null: to today, and thirty days. No more than are kept, the latest ones. */
export function statDays(asked: { from: string | null; to: string | null }, nowMs: number) {
  const to = asked.to ?? dayOf(nowMs);
  const before = (days: number) => dayOf(Date.parse(to) - (days - 1) * DAY_MS);
  const from = asked.from ?? before(DAYS);
  const earliest = before(STATS_KEPT_DAYS);
  return { from: from < earliest ? earliest : from, to };
}

/** The counts of these channels together, one item for each day, oldest first. */
export async function readStats(
  store: StatsStore,
  slugs: readonly string[],
  days: { from: string; to: string },
): Promise<ReturnType<typeof statView>[]> {
  const sums = new Map<string, DayStats>(
    daysOf(days.from, days.to).map((day) => [day, { day, counts: {}, visitors: 0 }]),
  );
  for (let at = 0; at < slugs.length; at += AT_ONCE) {
    const some = await Promise.all(slugs.slice(at, at + AT_ONCE).map((slug) => store.stats(slug, days)));
    for (const one of some.flat()) addTo(sums.get(one.day), one);
  }
  return [...sums.values()].map(statView);
}

/** A user belongs to one channel, so the visitors of several channels can be added. */
function addTo(sum: DayStats | undefined, { counts, visitors }: DayStats): void {
  if (!sum) return;
  sum.visitors += visitors;
  for (const [name, count] of Object.entries(counts)) sum.counts[name] = (sum.counts[name] ?? 0) + count;
}

/** A day as operators see it. */
function statView({ day, visitors, counts }: DayStats) {
  const number = (name: string) => counts[name] ?? 0;
  const costs = costsIn(counts);
  const [done = 0, failed = 0, cancelled = 0, expired = 0, superseded = 0] = OUTCOMES.map((outcome) =>
    number(`runs.${outcome}`),
  );
  return {
    day,
    visitors,
    messages: number("messages"),
    runs: { done, failed, cancelled, expired, superseded },
    inputTokens: number("inputTokens"),
    outputTokens: number("outputTokens"),
    handoffs: number("handoffs"),
    waitMsP50: waitAt(0.5, counts),
    waitMsP90: waitAt(0.9, counts),
    // What was given and taken back is counted by two processes, of which one may have died before it told.
    thumbsUp: Math.max(0, number("thumbsUp")),
    thumbsDown: Math.max(0, number("thumbsDown")),
    ...csatOf(counts),
    ...(costs ? { costs } : {}),
  };
}
