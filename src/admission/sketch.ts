import { randomInt } from "node:crypto";

/**
 * A count-min sketch: counts any number of keys in fixed memory, and never too low. A key's count is the lowest of its
 * cells, one in each row; keys that share all their cells are counted together.
 */
export interface Sketch {
  estimate(key: string): number;
  add(key: string): void;
}

const ROWS = 4;
/** 4 rows of 2^20 cells of 4 bytes: 16 MB. */
const CELLS_PER_ROW = 2 ** 20;

export function createSketch(): Sketch {
  const cells = new Uint32Array(ROWS * CELLS_PER_ROW);
  // Random, so that an attacker cannot compute keys that collide with those of others.
  const seeds = Array.from({ length: ROWS }, () => randomInt(2 ** 32));

  function cellsOf(key: string): number[] {
    return seeds.map((seed, row) => row * CELLS_PER_ROW + (hash(key, seed) & (CELLS_PER_ROW - 1)));
  }
  function lowest(places: readonly number[]): number {
    return Math.min(...places.map((place) => cells[place] ?? 0));
  }

  return {
    estimate: (key) => lowest(cellsOf(key)),
    add(key) {
      const places = cellsOf(key);
      // Cells above the lowest also count another key: raising them would only add to the error.
      const next = lowest(places) + 1;
      for (const place of places) cells[place] = Math.max(cells[place] ?? 0, next);
    },
  };
}

/** FNV-1a over the UTF-16 units, with murmur3's finish. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
