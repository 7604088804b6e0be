import { STORE_DEADLINE_MS } from "../store.ts";

const TICKS = 10;

/**
 * One deadline for every call, as a wheel of timers: a call costs an insertion into a set, while a timer of its own
 * would cost as much as the call. A call without an answer is rejected between 1.8 and 2.0 s after it began.
 *
 * Real time, not the Clock's: it limits how long a real server or disk may be silent. A process that was suspended,
 * however long, has missed one turn of the wheel: the answer may have come meanwhile.
 */
export interface Deadline {
  /** Settles like the answer, or rejects with the error that `late` makes. */
  bound<T>(answer: Promise<T>, late: () => Error, ends?: Ends): Promise<T>;
}

/** What the caller of a call does at its end, so that it needs no promise of its own. */
export interface Ends {
  /** The call has ended, however. */
  ended(): void;
  /** The caller's error for one of the answer. */
  failed(error: unknown): unknown;
}

const AS_ANSWERED: Ends = { ended() {}, failed: (error) => error };

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
    bound(answer, late, ends = AS_ANSWERED) {
      timer ??= setInterval(turn, deadlineMs / TICKS);
      // It keeps the process alive only while a call waits.
      if (waiting === 0) timer.ref();
      // The slot that the hand has just reached is the one that it reaches again last.
      const slot = wheel[hand] ?? new Set();
      return new Promise((resolve, reject) => {
        const expire = () => {
          if (leave()) reject(late());
        };
        /** False: the call has ended before. */
        const leave = (): boolean => {
          if (!slot.delete(expire)) return false;
          waiting -= 1;
          if (waiting === 0) timer?.unref();
          ends.ended();
          return true;
        };
        slot.add(expire);
        waiting += 1;
        answer.then(
          (value) => {
            if (leave()) resolve(value);
          },
          (error: unknown) => {
            if (leave()) reject(asError(ends.failed(error)));
          },
        );
      });
    },
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
