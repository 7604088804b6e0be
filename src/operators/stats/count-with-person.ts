import type { ChannelThreadStore } from "../../store.ts";

/** Threads beyond these are not read. */
const MOST_LOOKED_AT = 10_000;
const AT_ONCE = 200;

/** Counts the threads that a person has now, on all instances: reads those that the store lists in this state. */
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
