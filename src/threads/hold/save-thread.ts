import type { ErrorLine } from "../../../machines/line.ts";
import type { CommitResult, ThreadCommit } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { retryDuringOutage } from "../recover/retry-during-outage.ts";

/** How long a save is retried before the readers are told; equals the store's own deadline. */
const READERS_WAIT_MS = 2_000;

/** Ends the streams, not the run: it is saved when the store is back, and its stream can be read again then. */
export const NOT_SAVED: ErrorLine = {
  type: "error",
  code: "interrupted",
  message: "The service cannot save the conversation right now; the run goes on",
};

/** Stores whose outage is in the log already: one line tells it, however many runs wait. */
const away = new WeakSet<ThreadDependencies["store"]>();

/**
 * Commits, with retries during an outage. `onSlow` is called once, when the readers have waited long enough.
 * null: given up, because `isWanted` became false. Rethrows any other error.
 */
export async function saveThread(
  { store, clock, timers, log }: Pick<ThreadDependencies, "store" | "clock" | "timers" | "log">,
  commit: ThreadCommit,
  { isWanted, onSlow }: { isWanted: () => boolean; onSlow: () => void },
): Promise<CommitResult | null> {
  const begunAt = clock.elapsed();
  let isSlow = false;
  const result = await retryDuringOutage(timers, () => store.commit(commit), {
    isWanted,
    onAway(pauseMs) {
      if (isSlow || clock.elapsed() - begunAt + pauseMs <= READERS_WAIT_MS) return;
      isSlow = true;
      if (!away.has(store)) log.warn({ uid: commit.uid }, "the store is away: runs wait with their saves");
      away.add(store);
      onSlow();
    },
  });
  // Another one may be of a part of the store that was never away.
  if (isSlow && result !== null && away.delete(store)) log.info({}, "the store is back: runs go on");
  return result;
}
