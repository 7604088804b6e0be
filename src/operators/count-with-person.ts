import type { ChannelThreadStore } from "../store.ts";

/** More are not looked at. */
const MOST_LOOKED_AT = 10_000;
const AT_ONCE = 200;

/**
 * Threads that a person has now, whichever instance they are on: those listed by this state, which the store keeps anyway,
 * each looked at. Until what an earlier version wrote is in these lists, a store looks among a channel's latest threads.
 */
export async function countWithPerson(
  store: Pick<ChannelThreadStore, "channelThreads">,
  slugs: readonly string[],
): Promise<number> {
  const state = "with_person";
  let count = 0;
  let left = MOST_LOOKED_AT;
  for (const slug of slugs) {
    for (let after: string | null = null; left > 0; left -= AT_ONCE) {
      const page = { limit: AT_ONCE, after, sinceMs: 0, untilMs: Infinity, state } as const;
      const { items, next } = await store.channelThreads(slug, page);
      count += items.length;
      after = next;
      if (next === null) break;
    }
  }
  return count;
}
