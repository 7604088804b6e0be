import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../store.ts";

/** What came of an item that was tried. `late`: the store was late or away; `failed`: something is wrong with the item. */
export type Tried = "done" | "late" | "failed";

/** What time it is to who rests, and how it passes. */
export interface Pace {
  elapsed(): number;
  sleep(ms: number): Promise<void>;
}

/** Keeps no process alive. */
export const realPace: Pace = {
  elapsed: () => performance.now(),
  sleep: (ms) => sleep(ms, undefined, { ref: false }),
};

/**
 * Works on each item by itself, in their order: one late step holds up nothing but its own item. Ends early where so many in a
 * row are late, since the others would only wait for the store too, or where it is stopped. Resolves to what came of those that
 * were tried.
 */
export async function tryEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  options: {
    atATime: number;
    mostLateInARow: number;
    isStopped: () => boolean;
    /** Called for each that failed. */
    onFailure: (error: unknown) => void;
    /** Rests after each as long as it took: where the store is busy, those who talk come first. */
    rests?: Pace;
  },
): Promise<Map<Item, Tried>> {
  const { atATime, mostLateInARow, isStopped, onFailure, rests } = options;
  const waiting = items.values();
  const tried = new Map<Item, Tried>();
  let lateInARow = 0;

  async function tryOn(item: Item): Promise<Tried> {
    try {
      await work(item);
      lateInARow = 0;
      return "done";
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        lateInARow += 1;
        return "late";
      }
      onFailure(error);
      return "failed";
    }
  }

  async function workOnNext(): Promise<void> {
    for (const item of waiting) {
      if (isStopped() || lateInARow >= mostLateInARow) return;
      const beganAt = rests?.elapsed() ?? 0;
      tried.set(item, await tryOn(item));
      if (rests) await rests.sleep(rests.elapsed() - beganAt);
    }
  }

  await Promise.all(Array.from({ length: atATime }, workOnNext));
  return tried;
}
