import { newId } from "./ids.ts";

/**
 * Who holds a thread: `PROCESS:RANDOM`, new with every claim. Compared whole by every commit, so that a holder from
 * whom a thread was taken changes nothing more; no clock and no counter has a say.
 */
export function newFence(processId: string, random = newId()): string {
  return `${processId}:${random}`;
}

/**
 * The fence of a deleted thread, with its last revision: nobody holds by it, so that instances of versions which know
 * nothing of deletion are refused like anybody who does not hold the thread.
 */
export const DELETED_FENCE = "deleted:";

/** The process that a fence names. */
export function holderOf(fence: string): string {
  return fence.slice(0, fence.lastIndexOf(":"));
}
