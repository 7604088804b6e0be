import type { StatsStore } from "../../store.ts";
import { csatOf } from "./csat.ts";
import { peopleCountOf, waitAt } from "./stats-names.ts";

/** How the hand-offs of one operator in one queue went. */
export type PeopleRow = ReturnType<typeof rowOf>;

/** A row for each operator and queue with hand-offs in these days; what nobody took is under no operator. By queue, then operator. */
export async function peopleReport(
  store: StatsStore,
  slugs: readonly string[],
  days: { from: string; to: string },
): Promise<PeopleRow[]> {
  const groups = new Map<string, { queue: string; by: string; counts: Record<string, number> }>();
  for (const slug of slugs) {
    for (const day of await store.stats(slug, days)) {
      for (const [name, count] of Object.entries(day.counts)) {
        const one = peopleCountOf(name);
        if (one === null) continue;
        const key = JSON.stringify([one.queue, one.by]);
        const group = groups.get(key) ?? { queue: one.queue, by: one.by, counts: {} };
        group.counts[one.count] = (group.counts[one.count] ?? 0) + count;
        groups.set(key, group);
      }
    }
  }
  return [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => rowOf(group));
}

function rowOf({ queue, by, counts }: { queue: string; by: string; counts: Record<string, number> }) {
  const number = (name: string) => counts[name] ?? 0;
  const all = (kind: string) =>
    Object.entries(counts).reduce((sum, [name, count]) => (name.startsWith(kind) ? sum + count : sum), 0);
  return {
    queue: queue === "" ? null : queue,
    operator: by === "" ? null : by,
    asked: number("asked"),
    taken: all("wait."),
    missed: number("missed"),
    unanswered: number("unanswered"),
    ended: all("took."),
    waitMsP50: waitAt(0.5, counts),
    waitMsP90: waitAt(0.9, counts),
    tookMsP50: waitAt(0.5, counts, "took"),
    tookMsP90: waitAt(0.9, counts, "took"),
    ...(csatOf(counts) ?? { ratings: 0, csat: null }),
  };
}

// A cast: a row has these fields, and no others.
const NAMES = Object.keys(rowOf({ queue: "", by: "", counts: {} })) as (keyof PeopleRow)[];

/**
 * RFC 4180, with the names of the fields in the first line. A text that a spreadsheet would take for a formula gets an apostrophe
 * before it.
 */
export function csvOf(rows: readonly PeopleRow[]): string {
  const lines = rows.map((row) => NAMES.map((name) => cellOf(row[name])).join(","));
  return [NAMES.join(","), ...lines, ""].join("\r\n");
}

function cellOf(value: string | number | null): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
