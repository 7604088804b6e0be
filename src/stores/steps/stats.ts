import { daysOf } from "../../domain/day.ts";
import { newId } from "../../domain/ids.ts";
import { STATS_KEPT_DAYS } from "../../store.ts";
import type { DayStats, StatsStore } from "../../store.ts";
import { slotOf } from "../engine.ts";
import type { Engine, Pair, Write } from "../engine.ts";
import { tables } from "../tables.ts";
import type { StepsContext } from "./context.ts";
import { fieldIs } from "./field-is.ts";
import { untilApplied } from "./until-applied.ts";

/** One day more than the days that can be asked for: a clock may be behind. */
export const STATS_KEPT_MS = (STATS_KEPT_DAYS + 1) * 86_400_000;
/** Users in one write: far fewer than a database takes. */
const VISITORS_AT_ONCE = 1_000;
/** Days that are read at once. */
const DAYS_AT_ONCE = 100;

/** Nobody waits for it: what is lost costs a few counts. */
const ADDING = { durable: false, name: "addStats" };

const OP = "op";
/** Prefix of fields that say which count of a process was added last. */
const BY = "by ";
/** The number of users who were counted before a restore and are not in the sketch. */
export const RESTORED_VISITORS = "visitors";

/** A channel's statistics: for each day a hash of numbers, and a sketch of the users who sent messages. */
export function statsSteps({ engine }: StepsContext): StatsStore {
  return {
    async addStats({ slug, day, by, nth, counts, visitors }) {
      const key = tables.stats.key(slug, day);
      const names = Object.keys(counts);
      const reads = [{ read: "fields", key, fields: [OP, BY + by, ...names] }] as const;
      const step = { name: "addStats", slot: slotOf(key), reads };
      const counting = countingVisitors(tables.speakers.key(slug, day), visitors);
      const keeping: Write = { write: "expire", key, inMs: STATS_KEPT_MS };
      const op = { key, field: OP, value: newId() };
      let [stored] = await engine.read(reads, ADDING);

      await untilApplied("add statistics", async () => {
        const [lastOp = null, last = null, ...numbers] = stored;
        if (last !== null && Number(last) >= nth) {
          return engine.apply({ ...step, checks: [], writes: [keeping] }, ADDING);
        }
        const sum = (name: string, i: number) => Number(numbers[i] ?? 0) + (counts[name] ?? 0);
        const fields: Pair[] = names.map((name, i) => [name, String(sum(name, i))]);
        fields.push([BY + by, String(nth)], [OP, op.value]);
        const checks = [fieldIs(key, OP, lastOp)];
        const writes: Write[] = [...counting, { write: "set", key, fields }];
        const applied = await engine.apply({ ...step, checks, writes, op, after: [keeping] }, ADDING);
        [stored] = applied.reads;
        return applied.type === "failed" ? undefined : applied;
      });
    },

    async stats(slug, { from, to }) {
      const days = daysOf(from, to);
      const found: DayStats[] = [];
      for (let at = 0; at < days.length; at += DAYS_AT_ONCE) {
        const some = days.slice(at, at + DAYS_AT_ONCE).map((day) => dayStatsOf(engine, slug, day));
        found.push(...(await Promise.all(some)).filter((one) => one !== null));
      }
      return found;
    },
  };
}

/** A user may be counted again. */
export function countingVisitors(key: string, visitors: readonly string[]): Write[] {
  const writes: Write[] = [];
  for (let from = 0; from < visitors.length; from += VISITORS_AT_ONCE) {
    writes.push({ write: "count", key, members: visitors.slice(from, from + VISITORS_AT_ONCE) });
  }
  if (writes.length > 0) writes.push({ write: "expire", key, inMs: STATS_KEPT_MS });
  return writes;
}

/** A channel's statistics of a day; null: none. */
export async function dayStatsOf(
  engine: Pick<Engine, "read">,
  slug: string,
  day: string,
): Promise<DayStats | null> {
  const [[fields], [spoke]] = await Promise.all([
    engine.read([{ read: "hash", key: tables.stats.key(slug, day) }]),
    engine.read([{ read: "distinct", key: tables.speakers.key(slug, day) }]),
  ]);
  const numbers = fields.filter(([name]) => name !== OP && !name.startsWith(BY));
  if (numbers.length === 0 && spoke === 0) return null;
  const { [RESTORED_VISITORS]: restored = 0, ...counts } = Object.fromEntries(
    numbers.map(([name, count]) => [name, Number(count)] as const),
  );
  return { day, counts, visitors: spoke + restored };
}
