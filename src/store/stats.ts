/** Counts of a channel, by UTC day. */
export interface StatsStore {
  /** Adds one process's counts of a day. Repeating the same `nth` of a process adds nothing. */
  addStats(counted: CountedStats): Promise<void>;
  /** The days with counts from `from` to `to`, both included; oldest first. */
  stats(slug: string, days: { from: string; to: string }): Promise<DayStats[]>;
}

export interface CountedStats {
  slug: string;
  /** `YYYY-MM-DD` */
  day: string;
  /** The process, and the number of this count among its counts of this channel and day; it grows. */
  by: string;
  nth: number;
  counts: Readonly<Record<string, number>>;
  /** User ids; each is counted once a day. */
  visitors: readonly string[];
}

export interface DayStats {
  day: string;
  counts: Record<string, number>;
  /** On Redis an estimate, mostly within 1 %. */
  visitors: number;
}

/** How many days are kept. */
export const STATS_KEPT_DAYS = 400;
