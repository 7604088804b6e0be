/**
 * The branches of a conversation: somebody replaced a message, or had it answered again. A history stays one list, to which
 * items are only added; which of them are in another branch than the chosen one is noted beside it, as ranges of their
 * numbers. What is told to the model, and shown, is the chosen branch alone.
 */
export type Ranges = readonly (readonly [from: number, to: number])[];

/** What a new branch leaves out: the items from number `from` to number `to`, the last one so far. */
export interface Hides {
  from: number;
  to: number;
}

/** `3-6 9-12` */
export function rangesFrom(text: string | null | undefined): Ranges {
  if (!text) return [];
  return text.split(" ").map((range) => {
    const [from = 0, to = 0] = range.split("-").map(Number);
    return [from, to] as const;
  });
}

export function rangesText(ranges: Ranges): string {
  return ranges.map((range) => range.join("-")).join(" ");
}

/** Ranges inside the new one, or beside it, become part of it. */
export function withHidden(ranges: Ranges, { from, to }: Hides): Ranges {
  const before = ranges.filter(([, end]) => end < from - 1);
  const joined = ranges.filter(([, end]) => end >= from - 1);
  return [...before, [Math.min(from, ...joined.map(([start]) => start)), to]];
}

export function isHidden(ranges: Ranges, id: string): boolean {
  const number = Number(id);
  return ranges.some(([from, to]) => number >= from && number <= to);
}

/** Those of the chosen branch. */
export function chosenOf<Item extends { id: string }>(items: readonly Item[], ranges: Ranges): Item[] {
  return ranges.length === 0 ? [...items] : items.filter(({ id }) => !isHidden(ranges, id));
}
