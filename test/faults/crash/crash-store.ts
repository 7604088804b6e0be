import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { aroundStore, CHANGES } from "../flaky/around-store.ts";

/**
 * Where a process dies, counted in changes of the store since it listens: before that it may take up what others left.
 * `before`: instead of the change. `after`: the change is kept, and nobody has seen its answer. `answer-lost`: the
 * change is kept, its answer never comes, and the process lives on with what it does not know.
 */
export interface CrashPoint {
  at: number;
  mode: (typeof CRASH_MODES)[number];
}

/** The line by which a process tells that it has come to its crash point. */
export const REACHED = "crash point reached";

export const CRASH_MODES = ["before", "after", "answer-lost"] as const;

/** The store that tells of a crash point when it is reached, and calls `die` there. */
export function crashAt(
  store: Store,
  point: CrashPoint,
  { listens, reach, die }: { listens: () => boolean; reach: () => void; die: () => Promise<never> },
): Store {
  let changes = 0;
  return aroundStore(store, CHANGES, async (name, call) => {
    if (!listens()) return call();
    changes += 1;
    if (changes !== point.at) return call();
    reach();
    if (point.mode === "before") return die();
    await call();
    if (point.mode === "after") return die();
    throw new StoreUnavailable(`hear the answer of ${name}`);
  });
}
