import { randomFrom } from "../faults/random.ts";

/** Choices that follow from a seed. Each part of the simulation has a stream of its own. */
export interface Random {
  chance(share: number): boolean;
  /** A whole number, both ends included. */
  whole(from: number, to: number): number;
  between(from: number, to: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  /** undefined: there is none. */
  pickAny<Item>(items: readonly Item[]): Item | undefined;
  /** From 0 to 1. */
  next: () => number;
}

export function randomOf(seed: number, part: string): Random {
  const next = randomFrom(mixed(seed, part));
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    chance: (share) => next() < share,
    whole,
    between: (from, to) => from + next() * (to - from),
    pick: (items) => items[whole(0, items.length - 1)] ?? items[0],
    pickAny: (items) => items[whole(0, items.length - 1)],
  };
}

/** FNV-1a over the part's name, begun with the seed. */
function mixed(seed: number, part: string): number {
  let hash = (2_166_136_261 ^ seed) >>> 0;
  for (const character of part) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return hash >>> 0;
}
