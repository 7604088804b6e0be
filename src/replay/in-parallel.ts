/** Processes items, `atATime` at once; results are in the items' order. The first failure rejects, and no more begin. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  atATime: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  let hasFailed = false;
  async function work(): Promise<void> {
    for (const [at, item] of left) {
      if (hasFailed) return;
      results[at] = await act(item);
    }
  }
  const workers = Array.from({ length: Math.min(atATime, items.length) }, work);
  await Promise.all(workers).catch((error: unknown) => {
    hasFailed = true;
    throw error;
  });
  return results;
}
