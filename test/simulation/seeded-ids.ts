import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { newId } from "../../src/domain/ids.ts";
import { randomOf } from "./random.ts";
import type { Random } from "./random.ts";

/**
 * Makes ids and tokens follow from the seed until the function that it returns is called: by their hashes instances share work,
 * and by their order lists are kept. The bytes are nobody's secret here.
 */
export function seedIds(seed: number): () => void {
  const { randomBytes, randomFillSync } = crypto;
  /** By size: how much is left of one pool from before changes nothing in another one. */
  const streams = new Map<number, Random>();
  let fills = 0;

  function fill<Bytes extends NodeJS.ArrayBufferView>(bytes: Bytes): Bytes {
    fills++;
    const all = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const stream = streams.get(all.length) ?? randomOf(seed, `ids of ${all.length} bytes`);
    streams.set(all.length, stream);
    for (let at = 0; at < all.length; at++) all[at] = stream.whole(0, 255);
    return bytes;
  }

  Object.assign(crypto, { randomFillSync: fill, randomBytes: (size: number) => fill(Buffer.alloc(size)) });
  syncBuiltinESMExports();
  // The pool of ids has some left of whatever came before.
  while (fills === 0) newId();

  return () => {
    Object.assign(crypto, { randomBytes, randomFillSync });
    syncBuiltinESMExports();
  };
}
