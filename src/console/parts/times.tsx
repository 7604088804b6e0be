import { useEffect, useState } from "preact/hooks";

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const PRECISE = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A time in the reader's zone: as short as it can be told, and precisely on a longer look. */
export function Time({ at, style = "short" }: { at: number; style?: "short" | "long" | "ago" }) {
  useTick(style === "ago");
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={PRECISE.format(date)}>
      {style === "long" ? DATE.format(date) : style === "ago" ? agoText(at, Date.now()) : shortText(date)}
    </time>
  );
}

/** Draws anew twice a minute, so that what is relative stays true. */
function useTick(isWanted: boolean): void {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isWanted) return;
    const timer = setInterval(() => tick((count) => count + 1), MINUTE / 2);
    return () => clearInterval(timer);
  }, [isWanted]);
}

function shortText(date: Date): string {
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? TIME.format(date) : DATE.format(date);
}

function agoText(at: number, now: number): string {
  const ago = now - at;
  if (ago < MINUTE) return "just now";
  if (ago < HOUR) return AGO.format(-Math.floor(ago / MINUTE), "minute");
  if (ago < 24 * HOUR) return AGO.format(-Math.floor(ago / HOUR), "hour");
  if (ago < 7 * 24 * HOUR) return AGO.format(-Math.floor(ago / (24 * HOUR)), "day");
  return DATE.format(new Date(at));
}

/** A UTC day, `2026-11-22`. */
export function dayText(day: string): string {
  return DAY.format(new Date(`${day}T12:00:00`));
}
