import { StoreUnavailable } from "../store.ts";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Takes a step of the store, again and again while the store is away. null: given up, as nobody wants it any more.
 * Rejects with what is no outage. `onAway` is called before each pause, with its length in ms.
 */
export async function retryDuringOutage<Result>(
  step: () => Promise<Result>,
  { isWanted, onAway }: { isWanted: () => boolean; onAway: (pauseMs: number) => void },
): Promise<Result | null> {
  for (let pauseMs = FIRST_PAUSE_MS; isWanted(); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      onAway(pauseMs);
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
    }
  }
  return null;
}
