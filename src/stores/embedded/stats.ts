import { dayOf } from "../../domain/day.ts";
import { STATS_KEPT_DAYS } from "../../store/stats.ts";
import type { CountedStats, StatsStore } from "../../store/stats.ts";
import type { BackupStats } from "../backup/records.ts";
import { isNumber, isText, kindOf, mapOf, shape } from "../checks.ts";
import { readText } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";

/** A channel's statistics of a day. `by`, `nth`: the last count that was added. */
export interface StatsRecord {
  counts: Record<string, number>;
  visitors: number;
  by: string;
  nth: number;
}

export const statsKind = kindOf(
  "statistics",
  shape<StatsRecord>({ counts: mapOf(isNumber), visitors: isNumber, by: isText, nth: isNumber }),
);

/** Restores a day from a backup. Within a change. */
export function putStats(db: EmbeddedDb, { slug, day, counts, visitors, speakers = [] }: BackupStats): void {
  db.put(["st", keyPart(slug), day], statsKind.stored({ counts, visitors, by: "", nth: 0 }));
  for (const userId of speakers) db.put(speakerKey(slug, day, userId), day);
}

const speakerKey = (slug: string, day: string, userId: string): Key => [
  "sv",
  day,
  keyPart(slug),
  keyPart(userId),
];

const DAY_MS = 86_400_000;
/** How long the users of a day are kept, since a clock may be behind; after that only their number. */
const SPEAKERS_KEPT_DAYS = 2;
/** Old records removed with each new one: more than one, so that they get fewer. */
const DROPPED_AT_ONCE = 4;

/** A channel's statistics: for each day a record of numbers and, for the latest days, the users who sent messages. */
export function embeddedStats(db: EmbeddedDb): StatsStore {
  const statsKey = (slug: string, day: string): Key => ["st", keyPart(slug), day];

  function countSpeakers({ slug, day, visitors }: CountedStats): number {
    let fresh = 0;
    for (const userId of visitors) {
      const key = speakerKey(slug, day, userId);
      if (db.has(key)) continue;
      db.put(key, day);
      fresh += 1;
    }
    return fresh;
  }

  function dropOld({ slug, day, visitors }: CountedStats): void {
    const todayMs = Date.parse(day);
    const [known] = [...db.range(["st", keyPart(slug)], (value) => value, { limit: 1 })];
    if (known && String(known.key[2]) < dayOf(todayMs - STATS_KEPT_DAYS * DAY_MS)) db.remove(known.key);
    const limit = visitors.length * DROPPED_AT_ONCE;
    if (limit === 0) return;
    const oldest = dayOf(todayMs - SPEAKERS_KEPT_DAYS * DAY_MS);
    const first = [...db.range(["sv"], readText, { limit })];
    for (const { key } of first.filter(({ value }) => value < oldest)) db.remove(key);
  }

  return {
    addStats: (counted) =>
      db.change("count what happened", () => {
        const { slug, day, by, nth, counts } = counted;
        const key = statsKey(slug, day);
        const known = db.get(key, statsKind.read) ?? { counts: {}, visitors: 0, by: "", nth: 0 };
        if (known.by === by && known.nth >= nth) return;
        const sums = { ...known.counts };
        for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
        const visitors = known.visitors + countSpeakers(counted);
        db.put(key, statsKind.stored({ counts: sums, visitors, by, nth }));
        dropOld(counted);
      }),

    stats: (slug, { from, to }) =>
      db.read("read what was counted", () => {
        const days = [...db.range(["st", keyPart(slug)], statsKind.read, { from: statsKey(slug, from) })];
        return days
          .map(({ key, value: { counts, visitors } }) => ({ day: String(key[2]), counts, visitors }))
          .filter(({ day }) => day <= to);
      }),
  };
}
