import { compactText } from "../parts/numbers.ts";
import { durationText } from "../parts/durations.ts";
import { dayText } from "../parts/times.tsx";
import { OUTCOMES } from "../service/views.ts";
import type { DayView } from "../service/views.ts";

export interface Series {
  label: string;
  /** A colour of the stylesheet: `--NAME`. */
  color: string;
  /** One a day; null: nothing was measured. */
  values: readonly (number | null)[];
}

export interface PlotSpec {
  title: string;
  /** What it counts, in a sentence. */
  about: string;
  kind: "bars" | "lines";
  /** As the axis shows them. */
  days: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
}

const OUTCOME_COLORS = {
  done: "plot-1",
  cancelled: "plot-2",
  superseded: "plot-3",
  expired: "plot-4",
  failed: "plot-5",
} as const;

/** What the overview shows of these days, oldest first. */
export function plotsOf(stats: readonly DayView[]): PlotSpec[] {
  const days = stats.map(({ day }) => dayText(day));
  const series = (label: string, color: string, value: (day: DayView) => number | null): Series => ({
    label,
    color,
    values: stats.map(value),
  });
  return [
    {
      title: "Messages",
      about: "Messages of users, and how many visitors wrote them.",
      kind: "lines",
      days,
      series: [
        series("messages", "plot-1", ({ messages }) => messages),
        series("visitors", "plot-2", ({ visitors }) => visitors),
      ],
      format: compactText,
    },
    {
      title: "Runs",
      about: "By how they ended.",
      kind: "bars",
      days,
      series: OUTCOMES.map((outcome) =>
        series(outcome, OUTCOME_COLORS[outcome], ({ runs }) => runs[outcome]),
      ),
      format: compactText,
    },
    {
      title: "Tokens",
      about: "What the models read and wrote.",
      kind: "bars",
      days,
      series: [
        series("read", "plot-2", ({ inputTokens }) => inputTokens),
        series("written", "plot-1", ({ outputTokens }) => outputTokens),
      ],
      format: compactText,
    },
    {
      title: "Waiting time",
      about: "From a message to the first word of its reply: the median (p50) and the 90th percentile (p90).",
      kind: "lines",
      days,
      series: [
        series("p50", "plot-1", ({ waitMsP50 }) => waitMsP50),
        series("p90", "plot-4", ({ waitMsP90 }) => waitMsP90),
      ],
      format: durationText,
    },
    {
      title: "Thumbs",
      about: "What visitors thought of replies.",
      kind: "bars",
      days,
      series: [
        series("up", "plot-1", ({ thumbsUp }) => thumbsUp),
        series("down", "plot-5", ({ thumbsDown }) => thumbsDown),
      ],
      format: compactText,
    },
  ];
}

/** Is there anything to draw? */
export function hasValues({ series }: PlotSpec): boolean {
  return series.some(({ values }) => values.some((value) => value !== null && value > 0));
}

/** A plot of fewer days is a line or a bar and nothing else. */
const SHORTEST_DAYS = 7;

/** Each day of a period, but for those before the first of which anything is told. */
export function filledDays(items: readonly DayView[], from: string, to: string): DayView[] {
  const known = new Map(items.map((item) => [item.day, item]));
  const days: DayView[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push(known.get(day) ?? emptyDay(day));
  }
  const first = days.findIndex(({ messages, runs }) => messages > 0 || runs.done > 0 || runs.failed > 0);
  return days.slice(Math.max(0, Math.min(first, days.length - SHORTEST_DAYS)));
}

function emptyDay(day: string): DayView {
  const runs = { done: 0, failed: 0, cancelled: 0, expired: 0, superseded: 0 };
  const counts = {
    visitors: 0,
    messages: 0,
    inputTokens: 0,
    outputTokens: 0,
    handoffs: 0,
    thumbsUp: 0,
    thumbsDown: 0,
  };
  return { day, runs, ...counts, waitMsP50: null, waitMsP90: null };
}
