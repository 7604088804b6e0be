import type { ErrorLine } from "../../machines/line.ts";
import type { CommitResult, ThreadCommit } from "../store.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import { retryDuringOutage } from "./retry-during-outage.ts";

/** How long a save is retried before the readers are told; equals the store's own deadline. */
const READERS_WAIT_MS = 2_000;

/** Ends the streams, not the run: it is saved when the store is back, and its stream can be read again then. */
export const NOT_SAVED: ErrorLine = {
  type: "error",
  code: "interrupted",
  message: "The service cannot save the conversation right now; the run goes on",
};

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
  return retryDuringOutage(timers, () => store.commit(commit), {
    isWanted,
    onAway(pauseMs) {
      if (isSlow || clock.elapsed() - begunAt + pauseMs <= READERS_WAIT_MS) return;
      isSlow = true;
      const { uid, run } = commit;
      log.warn({ uid, runId: run?.runId }, "the store is away: the run waits with its save");
      onSlow();
    },
  });
}
