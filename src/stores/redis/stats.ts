import { daysOf } from "../../domain/day.ts";
import { STATS_KEPT_DAYS } from "../../store/stats.ts";
import type { DayStats, StatsStore } from "../../store/stats.ts";
import type { BackupStats } from "../backup/records.ts";
import type { RedisCommands } from "./commands.ts";
import { statsKey, speakersKey } from "./keys.ts";
import { numberOf, pairsOf } from "./records.ts";

/** One day more than the days that can be asked for: a clock may be behind. */
const KEPT_MS = String((STATS_KEPT_DAYS + 1) * 86_400_000);
/** Users in one command: far fewer than Lua can pass on. */
const VISITORS_AT_ONCE = 1_000;
/** Days that are read at once. */
const DAYS_AT_ONCE = 100;
/** Prefix of fields that are not counts of the day: which count of a process was added last. */
const BY = "by ";
/** The number of users who were counted before a restore and are not in the HyperLogLog. */
const RESTORED = "visitors";

/** The commands that restore a day from a backup. */
export function statsCommands({ slug, day, counts, visitors, speakers = [] }: BackupStats): string[][] {
  const [stats, sketch] = [statsKey(slug, day), speakersKey(slug, day)];
  const others = visitors - speakers.length;
  const numbers = Object.entries(others > 0 ? { ...counts, [RESTORED]: others } : counts);
  const endsAtMs = String(Date.parse(day) + Number(KEPT_MS));
  const commands: string[][] = [];
  if (numbers.length > 0)
    commands.push(
      ["HSET", stats, ...numbers.flatMap(([name, count]) => [name, String(count)])],
      ["PEXPIREAT", stats, endsAtMs],
    );
  for (let from = 0; from < speakers.length; from += VISITORS_AT_ONCE) {
    commands.push(["PFADD", sketch, ...speakers.slice(from, from + VISITORS_AT_ONCE)]);
  }
  if (speakers.length > 0) commands.push(["PEXPIREAT", sketch, endsAtMs]);
  return commands;
}

/** A channel's stored statistics of a day; null: none. */
export async function dayStatsOf(
  redis: Pick<RedisCommands, "read">,
  slug: string,
  day: string,
): Promise<DayStats | null> {
  const [stats, speakers] = [statsKey(slug, day), speakersKey(slug, day)];
  const [fields, spoke] = await Promise.all([
    redis.read(stats, "HGETALL", stats),
    redis.read(speakers, "PFCOUNT", speakers),
  ]);
  const numbers = pairsOf(fields).filter(([name]) => !name.startsWith(BY));
  if (numbers.length === 0 && spoke === 0) return null;
  const { [RESTORED]: restored = 0, ...counts } = Object.fromEntries(
    numbers.map(([name, count]) => [name, numberOf(count)] as const),
  );
  return { day, counts, visitors: numberOf(spoke) + restored };
}

/** A channel's statistics: for each day a hash of numbers, and a HyperLogLog of the users who sent messages. */
export function redisStats({
  redis,
  background,
}: {
  redis: RedisCommands;
  background: RedisCommands;
}): StatsStore {
  return {
    async addStats({ slug, day, by, nth, counts, visitors }) {
      const [stats, speakers] = [statsKey(slug, day), speakersKey(slug, day)];
      // Users may be added twice: a repeat starts from the beginning.
      for (let from = VISITORS_AT_ONCE; from < visitors.length; from += VISITORS_AT_ONCE) {
        await background.write(speakers, "PFADD", speakers, ...visitors.slice(from, from + VISITORS_AT_ONCE));
      }
      const named = Object.entries(counts);
      const args = { by, nth: String(nth), keptMs: KEPT_MS, count: String(named.length) };
      await background.call("add_stats", { stats, visitors: speakers }, args, [
        ...named.flatMap(([name, count]) => [name, String(count)]),
        ...visitors.slice(0, VISITORS_AT_ONCE),
      ]);
    },

    async stats(slug, { from, to }) {
      const days = daysOf(from, to);
      const found: DayStats[] = [];
      for (let at = 0; at < days.length; at += DAYS_AT_ONCE) {
        const some = days.slice(at, at + DAYS_AT_ONCE).map((day) => dayStatsOf(redis, slug, day));
        found.push(...(await Promise.all(some)).filter((one) => one !== null));
      }
      return found;
    },
  };
}
