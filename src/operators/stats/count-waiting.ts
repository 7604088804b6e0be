import type { Store } from "../../store.ts";

/** Threads beyond these are not counted. */
const MOST_COUNTED = 10_000;
const AT_ONCE = 100;

/**
 * Counts the threads that wait for a person now, on all instances. A waiting thread has a deadline, and the store knows
 * all deadlines: so only these few threads are read, including those of pending page calls.
 */
export async function countWaiting(store: Pick<Store, "due" | "look">): Promise<number> {
  const resting = await store.due(Number.MAX_SAFE_INTEGER, MOST_COUNTED);
  let waiting = 0;
  for (let from = 0; from < resting.length; from += AT_ONCE) {
    const looks = await Promise.all(resting.slice(from, from + AT_ONCE).map((uid) => store.look(uid, null)));
    waiting += looks.filter(({ state }) => state === "waiting_for_person").length;
  }
  return waiting;
}
