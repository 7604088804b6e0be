/** Works through items, so many at once; rejects when one does, and begins no other then. */
export async function atOnce<Item>(
  many: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  let failed = false;
  const worker = async () => {
    for (let item = left.shift(); item !== undefined && !failed; item = left.shift()) {
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: many }, worker));
}
