import type { Pair } from "../../engine.ts";

/** What the account has spent on a day: before a merge, and after it. */
export interface MergedDay {
  day: string;
  was: string | null;
  total: string;
}

/** A merge notes its totals with the leaving user, whose days are dropped at its end. */
const TOTAL = "total ";

export function totalNote({ day, total }: MergedDay): Pair {
  return [`${TOTAL}${day}`, total];
}

/** The model tokens of both sides by day; if a merge was stopped, the totals that it has noted. */
export function mergedDays(from: readonly Pair[], into: readonly Pair[]): MergedDay[] {
  const spent = new Map(into);
  const noted = from.filter(([day]) => day.startsWith(TOTAL));
  if (noted.length > 0) {
    return noted.map(([note, total]) => {
      const day = note.slice(TOTAL.length);
      return { day, was: spent.get(day) ?? null, total };
    });
  }
  return from.map(([day, tokens]) => {
    const was = spent.get(day) ?? null;
    return { day, was, total: String(Number(was ?? 0) + Number(tokens)) };
  });
}
