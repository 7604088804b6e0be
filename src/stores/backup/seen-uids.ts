import { createHash } from "node:crypto";

/** A set for millions of uids: 16 bytes of each one's hash, in one array. */
export interface SeenUids {
  add(uid: string): void;
  has(uid: string): boolean;
  readonly size: number;
}

const WORDS = 4;

export function seenUids(): SeenUids {
  let size = 0;
  let places = 1_024;
  let words = new Uint32Array(places * WORDS);

  /** The place of a hash, or the free place where it belongs. */
  function placeOf(hash: Uint32Array, among: Uint32Array): number {
    const mask = among.length / WORDS - 1;
    for (let place = (hash[0] ?? 0) & mask; ; place = (place + 1) & mask) {
      const at = place * WORDS;
      if (isFree(among, at) || hash.every((word, i) => among[at + i] === word)) return at;
    }
  }

  function grow(): void {
    const larger = new Uint32Array(words.length * 2);
    for (let at = 0; at < words.length; at += WORDS) {
      if (isFree(words, at)) continue;
      const hash = words.subarray(at, at + WORDS);
      larger.set(hash, placeOf(hash, larger));
    }
    words = larger;
    places *= 2;
  }

  return {
    get size() {
      return size;
    },
    add(uid) {
      const hash = hashOf(uid);
      const at = placeOf(hash, words);
      if (!isFree(words, at)) return;
      words.set(hash, at);
      size += 1;
      if (size > places / 2) grow();
    },
    has: (uid) => !isFree(words, placeOf(hashOf(uid), words)),
  };
}

function hashOf(uid: string): Uint32Array {
  const bytes = createHash("sha256").update(uid).digest();
  const hash = new Uint32Array(WORDS);
  for (let i = 0; i < WORDS; i++) hash[i] = bytes.readUInt32LE(i * WORDS);
  // All zeros mark a free place.
  if (isFree(hash, 0)) hash[0] = 1;
  return hash;
}

function isFree(words: Uint32Array, at: number): boolean {
  return words[at] === 0 && words[at + 1] === 0 && words[at + 2] === 0 && words[at + 3] === 0;
}
