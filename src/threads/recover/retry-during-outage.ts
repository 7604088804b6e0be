import { pause } from "../../clock.ts";
import type { Timers } from "../../clock.ts";
import { StoreUnavailable } from "../../store.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Retries a store call during an outage. null: given up, because `isWanted` became false. Rethrows any other error.
 * `onAway` is called before each pause, with its length in ms.
 */
export async function retryDuringOutage<Result>(
  timers: Timers,
  call: () => Promise<Result>,
  { isWanted, onAway }: { isWanted: () => boolean; onAway: (pauseMs: number) => void },
): Promise<Result | null> {
  for (let pauseMs = FIRST_PAUSE_MS; isWanted(); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      onAway(pauseMs);
      await pause(timers, pauseMs);
    }
  }
  return null;
}
