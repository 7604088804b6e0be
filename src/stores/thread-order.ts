import type { ListedThread, ThreadList, ThreadPlace } from "../store/users.ts";

/** A list page reads all threads of a user with at most this many; of a user with more, only those that it shows. */
export const FEW_THREADS = 100;

export function placeOf({ updatedAtMs, uid }: ListedThread): ThreadPlace {
  return { atMs: updatedAtMs, uid };
}

/** True if the place comes after the other one, with the latest first. */
export function isBehind(place: ThreadPlace, other: ThreadPlace): boolean {
  return place.atMs < other.atMs || (place.atMs === other.atMs && place.uid < other.uid);
}

export function latestFirst(threads: readonly ListedThread[]): ListedThread[] {
  return threads.toSorted((a, b) => (isBehind(placeOf(a), placeOf(b)) ? 1 : -1));
}

/** A page of a list whose threads are all known. */
export function pageOfAll(
  threads: readonly ListedThread[],
  { limit, after }: { limit: number; after: ThreadPlace | null },
): ThreadList {
  const rest = latestFirst(threads).filter((thread) => after === null || isBehind(placeOf(thread), after));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last && rest.length > limit ? placeOf(last) : null };
}
