/** What happened in a channel, counted by UTC day. */
export interface StatsStore {
  /** Adds what one process counted of a day. The same `nth` of a process again adds nothing. */
  addStats(counted: CountedStats): Promise<void>;
  /** The days, both included, of which anything was counted; oldest first. */
  stats(slug: string, days: { from: string; to: string }): Promise<DayStats[]>;
}

export interface CountedStats {
  slug: string;
  /** `YYYY-MM-DD` */
  day: string;
  /** The process, and which of its counts of this channel and day: they grow. */
  by: string;
  nth: number;
  counts: Readonly<Record<string, number>>;
  /** User ids: each counts once a day. */
  visitors: readonly string[];
}

export interface DayStats {
  day: string;
  counts: Record<string, number>;
  /** On Redis an estimate, off by less than 1 % mostly. */
  visitors: number;
}

/** So many days are kept. */
export const STATS_KEPT_DAYS = 400;
