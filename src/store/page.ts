/** Some of a long list, in its order. Each item has a `place`, behind which a later page begins. */
export interface Page<Item extends { place: string }> {
  items: Item[];
  /** Where the next page begins; null: this is the end. */
  next: string | null;
}

/** Of one item more than were asked for, where there are so many. */
export function pageOf<Item extends { place: string }>(found: readonly Item[], limit: number): Page<Item> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?.place ?? null) : null };
}
