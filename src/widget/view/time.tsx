import type { VNode } from "preact";

/** For today only the time. */
export function Time({ atMs, tag }: { atMs: number; tag: string }): VNode {
  const at = new Date(atMs);
  const isToday = at.toDateString() === new Date().toDateString();
  const text = at.toLocaleString(tag, { timeStyle: "short", ...(isToday ? {} : { dateStyle: "medium" }) });
  return (
    <time class="time" part="time" dateTime={at.toISOString()}>
      {text}
    </time>
  );
}
