import { Refusal } from "../domain/refusal.ts";

/**
 * Limits the cost of reads for this process: only AT_ONCE pages are read from the store at a time, others wait; and no page
 * is begun while clients leave too much unread. Threads take turns, so that a page waits for one page of each other
 * thread at most, however many pages of theirs somebody asks for.
 */
export interface Reads {
  /** Reads a page in its turn. Refusal("unavailable") while too much is unread. */
  page<Page>(uid: string, read: () => Promise<Page>): Promise<Page>;
  /** Throws Refusal("unavailable") while too much is unread. */
  mayBegin(): void;
}

/** A page is at most a few megabytes while it is made. */
const AT_ONCE = 16;

/** A reader that takes nothing is disconnected after about this long. */
const RETRY_SECONDS = 10;

export function createReads(isCrowded: () => boolean): Reads {
  /** By thread, in the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();
  let reading = 0;

  function mayBegin(): void {
    if (isCrowded()) throw new Refusal("unavailable", "", RETRY_SECONDS);
  }

  function turn(uid: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = waiting.get(uid);
      if (queue) queue.push(resolve);
      else waiting.set(uid, [resolve]);
    });
  }

  function next(): (() => void) | undefined {
    for (const [uid, queue] of waiting) {
      const first = queue.shift();
      waiting.delete(uid);
      // Behind the other threads.
      if (queue.length > 0) waiting.set(uid, queue);
      return first;
    }
    return undefined;
  }

  return {
    mayBegin,
    async page(uid, read) {
      mayBegin();
      if (reading >= AT_ONCE) await turn(uid);
      else reading++;
      try {
        mayBegin();
        return await read();
      } finally {
        const first = next();
        // Its place is handed on after this answer has left for its socket, and is counted there.
        if (first) setImmediate(first);
        else reading--;
      }
    },
  };
}
