import type { Store, ThreadCommit } from "../../../src/store.ts";

/**
 * Stores that break one promise each. The first two are controls for the history checker: where it finds nothing with
 * one of these in the service, it is the checker that is broken. The third is a process that stalls after its start.
 */
export type Weakness = "no-fence" | "says-before-saving" | "beats-once";

export function weaken(store: Store, weakness: Weakness): Store {
  switch (weakness) {
    case "no-fence":
      return { ...store, commit: withoutFence(store) };
    case "says-before-saving":
      return { ...store, commit: beforeSaving(store) };
    case "beats-once":
      return { ...store, beat: once(store) };
  }
}

/** The second beat is never done with, so there is no third. */
function once(store: Store): Store["beat"] {
  let beats = 0;
  return () => (beats++ === 0 ? store.beat() : new Promise(() => {}));
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
      readOp: record?.lastOp ?? null,
      orWait: null,
    };
    return store.commit(taken);
  };
}

/** How long a change that was called saved is not: longer than a kill takes on a busy machine. */
const LATE_MS = 5_000;

/** Every commit is answered at once, and made later, in order. */
function beforeSaving(store: Store): Store["commit"] {
  let last: Promise<unknown> = Promise.resolve();
  return (commit) => {
    const due = new Promise((resolve) => setTimeout(resolve, LATE_MS));
    last = Promise.all([last, due]).then(() => store.commit(commit));
    return Promise.resolve({ type: "committed", rev: commit.rev + 1, next: null });
  };
}
