import { statfs } from "node:fs/promises";
import type { StoreHealth } from "../../../store.ts";

const MIB = 2 ** 20;

/** On a full disk small changes still find room in the file, but the next large one does not. */
const LEAST_BYTES = MIB;
const SCARCE_BYTES = 100 * MIB;

/** Checks that the file can be written, and that its disk has room: a read would show neither. */
export async function lmdbHealth(canWrite: () => Promise<boolean>, dataDir: string): Promise<StoreHealth> {
  const [isWritten, freeBytes] = await Promise.all([canWrite(), freeBytesOf(dataDir)]);
  const left = `${Math.floor(freeBytes / MIB)} MiB are left on the disk of ${dataDir}`;
  return {
    reachable: isWritten && freeBytes >= LEAST_BYTES,
    warnings: freeBytes < SCARCE_BYTES ? [`${left}: the store takes no changes when it is full`] : [],
  };
}

/** What this account may still write; Infinity if the system does not say. */
async function freeBytesOf(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
