/** A page of a long list. Each item has a `place`; the next page begins after the last one's. */
export interface Page<Item extends { place: string }> {
  items: Item[];
  /** Where the next page begins; null: this is the end. */
  next: string | null;
}

/** Makes a page of `limit` items from a reading of one item more, if there is one. */
export function pageOf<Item extends { place: string }>(found: readonly Item[], limit: number): Page<Item> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?.place ?? null) : null };
}
