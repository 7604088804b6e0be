import { newId } from "../ids.ts";

/**
 * The holder of a thread: `PROCESS:RANDOM`, new with every claim. Every commit compares the whole fence, so that a holder
 * that has lost the thread changes nothing; this depends on no clock and no counter.
 */
export function newFence(processId: string, random = newId()): string {
  return `${processId}:${random}`;
}

/**
 * The fence of a deleted thread, with its last revision. No process has it, so instances of versions without deletion are
 * refused like any other process that does not hold the thread.
 */
export const DELETED_FENCE = "deleted:";

/** The process that a fence names. */
export function holderOf(fence: string): string {
  return fence.slice(0, fence.lastIndexOf(":"));
}
