import { STORE_DEADLINE_MS } from "../store.ts";

const TICKS = 10;

/**
 * One deadline for every call, as a wheel of timers: a call costs an insertion into a set, where a timer of its own
 * would cost as much as the call. A call that is not answered is rejected between 1.8 and 2.0 s after it began.
 *
 * Real time, not the clock's: what is bounded here is a real server's silence, or a disk's. A process that stood still,
 * however long, has missed one turn of the wheel: the answer may have come meanwhile.
 */
export interface Deadline {
  /** Settles as the answer does, or rejects with what `late` makes. */
  bound<T>(answer: Promise<T>, late: () => Error): Promise<T>;
}

export function createDeadline(deadlineMs: number = STORE_DEADLINE_MS): Deadline {
  const wheel = Array.from({ length: TICKS }, () => new Set<() => void>());
  let hand = 0;
  let waiting = 0;
  let timer: NodeJS.Timeout | null = null;

  function turn() {
    hand = (hand + 1) % TICKS;
    // Deleting from a set while it is walked is fine, and every call deletes itself.
    for (const expire of wheel[hand] ?? []) expire();
    if (waiting === 0 && timer) {
      clearInterval(timer);
      timer = null;
    }
  }

  return {
    bound(answer, late) {
      timer ??= setInterval(turn, deadlineMs / TICKS);
      // It keeps the process alive while somebody waits, and no longer.
      if (waiting === 0) timer.ref();
      // The slot behind the hand: the one that it reaches last.
      const slot = wheel[hand] ?? new Set();
      return new Promise((resolve, reject) => {
        const expire = () => {
          leave();
          reject(late());
        };
        const leave = () => {
          if (slot.delete(expire)) waiting -= 1;
          if (waiting === 0) timer?.unref();
        };
        slot.add(expire);
        waiting += 1;
        answer.then(
          (value) => {
            leave();
            resolve(value);
          },
          (error: unknown) => {
            leave();
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
      });
    },
  };
}
