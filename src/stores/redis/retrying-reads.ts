import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../../store.ts";
import type { RedisCommands } from "./commands.ts";

const MOST_TRIES = 20;
const PAUSE_MS = 500;

/** A walk over all data should not end because Redis was away for a moment: retries everything that only reads. */
export function retryingReads(redis: RedisCommands): RedisCommands {
  return {
    ...redis,
    ask: (...asked) => retried(() => redis.ask(...asked)),
    read: (...asked) => retried(() => redis.read(...asked)),
    peek: (...asked) => retried(() => redis.peek(...asked)),
  };
}

export async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || tries === MOST_TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
