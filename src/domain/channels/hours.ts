/** When people of a channel are there, as its owner writes it. */
export interface Hours {
  /** An IANA name: `Europe/Berlin`. */
  timeZone: string;
  /** Ranges of a day's local times, `09:00-17:30`, in order; `24:00` is the day's end. A day that is left out has none. */
  week: Partial<Record<Weekday, string[]>>;
  /** Local days on which nobody is there, `2026-12-25`. */
  holidays?: string[];
}

export const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const RANGE = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** How far an opening is looked for. */
const MOST_DAYS = 400;

/** What is wrong with them, for who writes them; null: nothing. */
export function hoursFault({ timeZone, week, holidays = [] }: Hours): string | null {
  if (!isTimeZone(timeZone)) return `timeZone: ${timeZone} is no time zone, as Europe/Berlin is`;
  for (const [day, ranges] of Object.entries(week)) {
    let endedAt = -1;
    for (const range of ranges) {
      const minutes = minutesOf(range);
      if (minutes === null) return `week.${day}: ${range} is no range, as 09:00-17:30 is`;
      if (minutes.from < endedAt || minutes.to <= minutes.from)
        return `week.${day}: the ranges overlap, or are not in order`;
      endedAt = minutes.to;
    }
  }
  const wrong = holidays.find((day) => !isDay(day));
  return wrong === undefined ? null : `holidays: ${wrong} is no day, as 2026-12-25 is`;
}

export function isOpenAt(hours: Hours, atMs: number): boolean {
  const { day, minute } = localOf(hours.timeZone, atMs);
  return rangesOn(hours, day).some(({ from, to }) => minute >= from && minute < to);
}

/** When somebody is there next: `atMs` itself while it is open; null: not within some 400 days. */
export function opensAt(hours: Hours, atMs: number): number | null {
  if (isOpenAt(hours, atMs)) return atMs;
  const today = Date.parse(`${localOf(hours.timeZone, atMs).day}T00:00:00Z`);
  for (let nth = 0; nth < MOST_DAYS; nth += 1) {
    const day = new Date(today + nth * DAY_MS).toISOString().slice(0, 10);
    const ranges = rangesOn(hours, day);
    if (ranges.length === 0) continue;
    const opens = openingsOn(hours.timeZone, day, ranges).find((one) => one > atMs && isOpenAt(hours, one));
    if (opens !== undefined) return opens;
  }
  return null;
}

function rangesOn({ week, holidays = [] }: Hours, day: string): { from: number; to: number }[] {
  if (holidays.includes(day)) return [];
  const weekday = WEEKDAYS[new Date(`${day}T00:00:00Z`).getUTCDay()];
  const ranges = (weekday && week[weekday]) ?? [];
  return ranges.map(minutesOf).filter((range) => range !== null);
}

/** Minutes from the day's beginning, by its clock; null: it is no range. */
function minutesOf(range: string): { from: number; to: number } | null {
  const [found, fromHour, fromMinute, toHour = "24", toMinute = "0"] = RANGE.exec(range) ?? [];
  if (found === undefined) return null;
  return {
    from: Number(fromHour) * 60 + Number(fromMinute),
    to: Number(toHour) * 60 + Number(toMinute),
  };
}

/** What calendar and clock show there. */
function localOf(timeZone: string, atMs: number): { day: string; minute: number } {
  const parts = formatOf(timeZone).formatToParts(atMs);
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? "0";
  return {
    day: `${of("year")}-${of("month")}-${of("day")}`,
    minute: Number(of("hour")) * 60 + Number(of("minute")),
  };
}

/**
 * The moments of a local day at which somebody may come, in order: whenever the clock there shows the beginning of a range, which it
 * does twice where it is put back; and when it is put forward or back, since that may lead into the middle of one.
 */
function openingsOn(timeZone: string, day: string, ranges: readonly { from: number }[]): number[] {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  let [before, after] = [midnight - DAY_MS, midnight + 2 * DAY_MS];
  const offsets = [offsetAt(timeZone, before), offsetAt(timeZone, after)];
  const begins = ranges.flatMap(({ from }) => offsets.map((offset) => midnight + from * MINUTE_MS - offset));
  const [offset] = offsets;
  if (offset !== offsets[1]) {
    while (after - before > MINUTE_MS) {
      const middle = before + Math.floor((after - before) / (2 * MINUTE_MS)) * MINUTE_MS;
      if (offsetAt(timeZone, middle) === offset) before = middle;
      else after = middle;
    }
    begins.push(after);
  }
  return begins.filter((one) => localOf(timeZone, one).day === day).sort((a, b) => a - b);
}

/** How far the clock there is ahead of UTC, in ms. */
function offsetAt(timeZone: string, atMs: number): number {
  const { day, minute } = localOf(timeZone, atMs);
  return Date.parse(`${day}T00:00:00Z`) + minute * MINUTE_MS - Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
}

/** Making one takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-CA", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  formats.set(timeZone, made);
  return made;
}

function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const atMs = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text);
}
