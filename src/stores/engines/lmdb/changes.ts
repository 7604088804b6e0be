/** The changes of one file that are under way in this process. */
export interface Changes {
  /** Makes a change; resolves when it is over. Closing the file is a change too. */
  run<Result>(change: () => Promise<Result>): Promise<Result>;
  /** The file is closed: nobody need wait for its changes. */
  end(): void;
}

const underWay = new Map<Changes, Set<Promise<unknown>>>();
let isHeldForGood = false;

export function createChanges(): Changes {
  const running = new Set<Promise<unknown>>();
  const changes: Changes = {
    async run(change) {
      if (isHeldForGood) await new Promise(() => {});
      const made = change();
      running.add(made);
      try {
        return await made;
      } finally {
        running.delete(made);
      }
    },
    end: () => void underWay.delete(changes),
  };
  underWay.set(changes, running);
  return changes;
}

/**
 * Begins no change of this process any more; resolves when none is running.
 *
 * Exiting during a change fails: lmdb's thread waits for the change's step and Node for that thread, for ever; or the
 * thread goes on in memory that the exit has freed, and the process crashes.
 */
export async function holdChangesForGood(): Promise<void> {
  isHeldForGood = true;
  await Promise.allSettled([...underWay.values()].flatMap((running) => [...running]));
}
