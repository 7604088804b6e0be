import type { Store, ThreadCommit } from "../../src/store.ts";

/**
 * Stores that break one promise each: controls for the history checker. Where it finds nothing with one of these in
 * the service, it is the checker that is broken.
 */
export type Weakness = "no-fence" | "says-before-saving";

export function weaken(store: Store, weakness: Weakness): Store {
  return { ...store, commit: weakness === "no-fence" ? withoutFence(store) : beforeSaving(store) };
}

/** Whoever comes last wins: every commit takes the thread as it is now, whoever holds it. */
function withoutFence(store: Store): Store["commit"] {
  return async (commit) => {
    const record = await store.load(commit.uid, 1);
    const taken: ThreadCommit = {
      ...commit,
      claims: true,
      takesFrom: record?.fence ?? null,
      rev: record?.rev ?? 0,
      orWait: null,
    };
    return store.commit(taken);
  };
}

/** How long a change that was called saved is not. */
const LATE_MS = 300;

/** Every commit is answered at once, and made later, in order. */
function beforeSaving(store: Store): Store["commit"] {
  let last: Promise<unknown> = Promise.resolve();
  return (commit) => {
    const due = new Promise((resolve) => setTimeout(resolve, LATE_MS));
    last = Promise.all([last, due]).then(() => store.commit(commit));
    return Promise.resolve({ type: "committed", rev: commit.rev + 1, next: null });
  };
}
