import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../../store.ts";
import type { Engine } from "../engine.ts";

const MOST_TRIES = 20;
const PAUSE_MS = 500;

/**
 * The engine for work on all data, which should not end because the store was away for a moment, or slow: retries reads and
 * steps. A list that is read in pages begins anew, and its entries come again.
 */
export function retrying(engine: Engine): Engine {
  return {
    ...engine,
    read: (...asked) => retried(() => engine.read(...asked)),
    apply: (...asked) => retried(() => engine.apply(...asked)),
    hashPages: (key) => retriedPages(() => engine.hashPages(key)),
    memberPages: (key) => retriedPages(() => engine.memberPages(key)),
  };
}

export async function retried<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      await waitAfter(error, tries);
    }
  }
}

async function* retriedPages<T>(pages: () => AsyncIterable<T>): AsyncIterable<T> {
  for (let tries = 1; ; tries++) {
    try {
      return yield* pages();
    } catch (error) {
      await waitAfter(error, tries);
    }
  }
}

async function waitAfter(error: unknown, tries: number): Promise<void> {
  if (!(error instanceof StoreUnavailable) || tries === MOST_TRIES) throw error;
  await sleep(PAUSE_MS);
}
