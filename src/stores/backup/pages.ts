import { setImmediate as nextTurn } from "node:timers/promises";
import type { Member } from "../engine.ts";
import type { Reader } from "../walk.ts";

/**
 * The members of a sorted set by score, in pages: by score and not by place, because others add and remove some meanwhile.
 * Between two pages other work runs: on lmdb, too, where every read is answered at once, and frees its memory in a later turn.
 */
export async function* rangePages(
  reader: Reader,
  key: string,
  { to = Infinity, limit }: { to?: number; limit: number },
): AsyncIterable<Member[]> {
  let from = -Infinity;
  let met = new Set<string>();
  for (let most = limit; ;) {
    const [found] = await reader.read([{ read: "range", key, from, to, limit: most }]);
    const fresh = found.filter(([member]) => !met.has(member));
    if (fresh.length > 0) yield fresh;
    const last = found.at(-1);
    if (last === undefined || found.length < most) return;
    // All of them have the same score: the next page must reach beyond it.
    most = last[1] === from ? most * 2 : limit;
    [, from] = last;
    met = new Set(found.filter(([, score]) => score === from).map(([member]) => member));
    await nextTurn();
  }
}

/** A list in parts of at most so many. */
export function* chunks<T>(list: readonly T[], most: number): Iterable<T[]> {
  for (let from = 0; from < list.length; from += most) yield list.slice(from, from + most);
}
