import { hash } from "node:crypto";

/**
 * Which uids were added, in 16 MB whatever their number (a Bloom filter). `mayHave` is never false of one that was added, and
 * hardly ever true of another: once in a million times with a million uids, once in 250 times with ten million.
 */
export interface SeenUids {
  add(uid: string): void;
  mayHave(uid: string): boolean;
}

const BITS = 2 ** 27;
const BITS_OF_UID = 4;

export function seenUids(): SeenUids {
  const bytes = new Uint8Array(BITS / 8);
  const byteAt = (bit: number) => bytes[bit >> 3] ?? 0;
  const mask = (bit: number) => 1 << (bit & 7);
  return {
    add(uid) {
      for (const bit of bitsOf(uid)) bytes[bit >> 3] = byteAt(bit) | mask(bit);
    },
    mayHave: (uid) => bitsOf(uid).every((bit) => (byteAt(bit) & mask(bit)) !== 0),
  };
}

function bitsOf(uid: string): number[] {
  const digest = hash("sha256", uid, "buffer");
  return Array.from({ length: BITS_OF_UID }, (_, nth) => digest.readUInt32LE(nth * 4) % BITS);
}
