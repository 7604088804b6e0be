import type { HeldThread, HeldThreadRegistry } from "./held-thread.ts";

/** The threads that this process holds, and the fences that it has claimed. */
export interface HeldThreads extends HeldThreadRegistry {
  /** The thread, if this process holds it. */
  get(uid: string): HeldThread | undefined;
  all(): HeldThread[];
  size(): number;
  /** Is this fence claimed by this process? A thread that the store has under another fence of this process is lost. */
  isOurs(fence: string): boolean;
  /** Resolves when the claim with this fence has ended. */
  claimEnded(fence: string): Promise<void>;
}

/** A claim under way, for callers that wait for its end. */
interface Claiming {
  ended: Promise<void>;
  end: () => void;
}

export function createHeldThreads({
  onBegun,
  onCommitted,
  onDoubt,
}: {
  onBegun: (thread: HeldThread) => void;
  onCommitted: (uid: string, watchers?: readonly string[]) => void;
  /** The store may name this process as the thread's holder although nothing here holds it. */
  onDoubt: (uid: string) => void;
}): HeldThreads {
  const held = new Map<string, HeldThread>();
  const fences = new Set<string>();
  const claims = new Map<string, Claiming>();

  function released(thread: HeldThread): void {
    fences.delete(thread.fence);
    if (held.get(thread.uid) === thread) held.delete(thread.uid);
  }

  return {
    get: (uid) => held.get(uid),
    all: () => [...held.values()],
    size: () => held.size,
    isOurs: (fence) => fences.has(fence),

    claimEnded: async (fence) => claims.get(fence)?.ended,

    claiming({ fence }) {
      fences.add(fence);
      let end = () => {};
      const ended = new Promise<void>((resolve) => (end = resolve));
      claims.set(fence, { ended, end });
    },

    claimed(thread, isHeld) {
      claims.get(thread.fence)?.end();
      claims.delete(thread.fence);
      if (isHeld) held.set(thread.uid, thread);
      else fences.delete(thread.fence);
      if (isHeld === null) onDoubt(thread.uid);
    },

    committed: ({ uid }, watchers) => onCommitted(uid, watchers),

    begun: onBegun,

    released,

    gaveUp(thread) {
      released(thread);
      onDoubt(thread.uid);
    },
  };
}
