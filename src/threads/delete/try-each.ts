import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../../store.ts";

/** The outcome for one item. `late`: the store was late or away; `failed`: something is wrong with the item. */
export type Tried = "done" | "late" | "failed";

/** The time, and how to wait. */
export interface Pace {
  elapsed(): number;
  sleep(ms: number): Promise<void>;
}

/** Its timers do not keep the process alive. */
export const realPace: Pace = {
  elapsed: () => performance.now(),
  sleep: (ms) => sleep(ms, undefined, { ref: false }),
};

/**
 * Works on each item separately, in order: a late step delays only its own item. Ends early when it is stopped, or when
 * `mostLateInARow` are late, since the others would only wait for the store too. Resolves to the outcomes of the items that
 * were tried.
 */
export async function tryEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  options: {
    atATime: number;
    mostLateInARow: number;
    isStopped: () => boolean;
    /** Called for each item that failed. */
    onFailure: (error: unknown) => void;
    /** Rests after each item for as long as it took, so that conversations come first when the store is busy. */
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
