import type { HeldThread, HeldThreadRegistry } from "./held-thread.ts";

/** The threads that this process holds, and the fences by which it means to hold them. */
export interface HeldThreads extends HeldThreadRegistry {
  /** The thread, where this process holds it. */
  get(uid: string): HeldThread | undefined;
  all(): HeldThread[];
  size(): number;
  /** Does this process mean to hold by this fence? What the store says it holds by another one is lost. */
  isOurs(fence: string): boolean;
}

export function createHeldThreads(onBegun: (thread: HeldThread) => void): HeldThreads {
  const held = new Map<string, HeldThread>();
  const fences = new Set<string>();

  return {
    get: (uid) => held.get(uid),
    all: () => [...held.values()],
    size: () => held.size,
    isOurs: (fence) => fences.has(fence),

    claiming: (thread) => void fences.add(thread.fence),

    claimed(thread, isHeld) {
      if (isHeld) held.set(thread.uid, thread);
      else fences.delete(thread.fence);
    },

    begun: onBegun,

    released(thread) {
      fences.delete(thread.fence);
      if (held.get(thread.uid) === thread) held.delete(thread.uid);
    },
  };
}
