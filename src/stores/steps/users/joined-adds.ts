/** Amounts that are added together. */
interface Batch {
  amount: number;
  hasBegun: boolean;
  done: Promise<void>;
}

/** Adds an amount to a counter by calling `add`, which may get the amounts of other calls too. */
export type JoinedAdds = (
  counter: string,
  amount: number,
  add: (amount: number) => Promise<void>,
) => Promise<void>;

/**
 * While an addition to a counter is being made, further ones to it wait, and are then made together: the calls of one
 * process do not make each other's checks fail.
 */
export function joinedAdds(): JoinedAdds {
  const latest = new Map<string, Batch>();

  return (counter, amount, add) => {
    const before = latest.get(counter);
    if (before && !before.hasBegun) {
      before.amount += amount;
      return before.done;
    }
    const batch: Batch = { amount, hasBegun: false, done: Promise.resolve() };
    const made = async () => {
      // Whoever waits for that one gets its error.
      await before?.done.catch(() => {});
      batch.hasBegun = true;
      try {
        await add(batch.amount);
      } finally {
        if (latest.get(counter) === batch) latest.delete(counter);
      }
    };
    latest.set(counter, batch);
    batch.done = made();
    return batch.done;
  };
}
