import { hasRun } from "../threads/thread-state.ts";
import type { Threads } from "../threads/threads.ts";
import { pause, systemClock, systemTimers } from "../clock.ts";
import { EVERYTHING } from "../store.ts";
import type { Store } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

/** For one thread, however many messages come meanwhile. */
const LONGEST_MS = 30_000;
const LOOK_MS = 20;
const MOST_DUE = 1_000_000;

type Holding = Pick<Store, "processId" | "holders" | "heldBy" | "due" | "load">;
type Stopping = Pick<Threads, "load" | "cancel">;

/** Stops the runs and waits in a user's threads. Returns the number of threads that had one. */
export async function stopUser(
  acting: Acting<Pick<Store, "threads">>,
  threads: Stopping,
  slug: string,
  userId: string,
): Promise<number> {
  await note(acting, { action: "users.stop", target: userId, slug });
  const uids = (await acting.store.threads(slug, userId)).map(({ uid }) => uid);
  return stopRuns(threads, uids);
}

/** Stops the runs and waits in a channel's threads. Returns the number of threads that had one. */
export async function stopChannel(acting: Acting<Holding>, threads: Stopping, slug: string): Promise<number> {
  await note(acting, { action: "channels.stop", target: slug, slug });
  return stopRuns(threads, await activeThreads(acting.store, slug));
}

/**
 * Stops the runs and pending calls of these threads, and the messages queued behind them, on any instance. Returns the
 * number of threads that had one.
 */
async function stopRuns(threads: Stopping, uids: readonly string[]): Promise<number> {
  let stopped = 0;
  for (const uid of uids) {
    const endsAt = systemClock.elapsed() + LONGEST_MS;
    let hadRun = false;
    // The one that is active, and each that waited when it ended: between two of them the thread is idle, and held.
    while (systemClock.elapsed() < endsAt) {
      const record = await threads.load(uid, "active");
      if (record === null || (!hasRun(record.state) && record.fence === null)) break;
      hadRun = true;
      if (!hasRun(record.state)) await pause(systemTimers, LOOK_MS);
      else await threads.cancel(uid);
    }
    if (hadRun) stopped++;
  }
  return stopped;
}

/** The threads of a channel that have a run or a pending call, on any instance. */
async function activeThreads(store: Holding, slug: string): Promise<string[]> {
  const holders = new Set([null, store.processId, ...(await store.holders(EVERYTHING))]);
  const held = await Promise.all([...holders].map((holder) => store.heldBy(holder)));
  const due = await store.due(Number.MAX_SAFE_INTEGER, MOST_DUE);
  const uids = new Set([...held.flat().map(({ uid }) => uid), ...due]);
  const active: string[] = [];
  for (const uid of uids) if ((await store.load(uid, 0, "active"))?.slug === slug) active.push(uid);
  return active;
}
