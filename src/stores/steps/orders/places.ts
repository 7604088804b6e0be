import type { ThreadPlace } from "../../../store/users.ts";
import type { Engine } from "../../engine.ts";
import { isBehind } from "../../thread-order.ts";

/** Threads of an order by activity that come after a place, at most `limit`: the latest first, or the oldest first. */
export async function placesBehind(
  engine: Engine,
  key: string,
  page: { after: ThreadPlace | null; sinceMs: number; untilMs: number; limit: number; oldestFirst?: boolean },
): Promise<ThreadPlace[]> {
  const { after, sinceMs, untilMs, limit, oldestFirst = false } = page;
  const from = oldestFirst ? Math.max(sinceMs, after?.atMs ?? 0) : sinceMs;
  const to = oldestFirst ? untilMs : Math.min(untilMs, after?.atMs ?? Infinity);
  for (let asked = limit + 1; ; asked *= 2) {
    const [found] = await engine.read([
      { read: "range", key, from, to, reverse: !oldestFirst, limit: asked },
    ]);
    const places = found
      .map(([uid, atMs]) => ({ uid, atMs }))
      .filter((place) => after === null || (oldestFirst ? isBehind(after, place) : isBehind(place, after)));
    // All of them may have the time of `after` and stand before it.
    if (places.length >= limit || found.length < asked) return places.slice(0, limit);
  }
}
