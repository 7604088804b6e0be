const DAY_MS = 86_400_000;

/** A cache: each message asks for the same day several times. */
let latest = { nth: Number.NaN, day: "" };

/** The UTC day of a moment, `YYYY-MM-DD`; daily budgets are counted by it. */
export function dayOf(atMs: number): string {
  const nth = Math.floor(atMs / DAY_MS);
  if (nth !== latest.nth) latest = { nth, day: new Date(atMs).toISOString().slice(0, 10) };
  return latest.day;
}

/** Every UTC day from one to another, both included; none if `to` is before `from`. */
export function daysOf(from: string, to: string): string[] {
  const firstMs = Date.parse(from);
  const count = Math.round((Date.parse(to) - firstMs) / DAY_MS) + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, nth) => dayOf(firstMs + nth * DAY_MS));
}

/** `YYYY-MM-DD`, and a day that exists. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const atMs = Date.parse(text);
  return !Number.isNaN(atMs) && dayOf(atMs) === text;
}
