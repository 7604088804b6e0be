import type { Committed } from "./claim.ts";
import type { HeldThread, HeldThreadRegistry } from "./held-thread.ts";
import type { Remembered } from "./remembered.ts";

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
  onReleased,
  remembered,
}: {
  onBegun: (thread: HeldThread) => void;
  onCommitted: (uid: string, result: Committed) => void;
  /** The store may name this process as the thread's holder although nothing here holds it. */
  onDoubt: (uid: string) => void;
  /** A thread was let go, and goes on: not one that was deleted. */
  onReleased: (thread: HeldThread) => void;
  /** Gets the threads that are released. */
  remembered: Pick<Remembered, "set">;
}): HeldThreads {
  const held = new Map<string, HeldThread>();
  /** Also of claims without an answer. */
  const fences = new Map<string, HeldThread>();
  const claims = new Map<string, Claiming>();

  function drop(thread: HeldThread): void {
    fences.delete(thread.fence);
    if (held.get(thread.uid) === thread) held.delete(thread.uid);
  }

  return {
    get: (uid) => held.get(uid),
    all: () => [...held.values()],
    size: () => held.size,
    isOurs: (fence) => fences.has(fence),

    claimEnded: async (fence) => claims.get(fence)?.ended,

    claiming(thread) {
      const { fence } = thread;
      fences.set(fence, thread);
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

    taken: (fence) => fences.get(fence)?.interrupt(),

    committed: ({ uid }, result) => onCommitted(uid, result),

    begun: onBegun,

    released(thread, record) {
      drop(thread);
      if (record) remembered.set(record);
      onReleased(thread);
    },

    deleted: drop,

    gaveUp(thread) {
      drop(thread);
      onDoubt(thread.uid);
    },
  };
}
