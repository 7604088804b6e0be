import { Refusal } from "../domain/refusal.ts";

/**
 * Limits the cost of reads for this process: only AT_ONCE pages are read from the store at a time, others wait; and no page
 * is begun while clients leave too much unread.
 */
export interface Reads {
  /** Reads a page in its turn. Refusal("unavailable") while too much is unread. */
  page<Page>(read: () => Promise<Page>): Promise<Page>;
  /** Throws Refusal("unavailable") while too much is unread. */
  mayBegin(): void;
}

/** A page is at most a few megabytes while it is made. */
const AT_ONCE = 16;

/** A reader that takes nothing is disconnected after about this long. */
const RETRY_SECONDS = 10;

export function createReads(isCrowded: () => boolean): Reads {
  const waiting: (() => void)[] = [];
  let reading = 0;

  function mayBegin(): void {
    if (isCrowded()) throw new Refusal("unavailable", "", RETRY_SECONDS);
  }

  return {
    mayBegin,
    async page(read) {
      mayBegin();
      if (reading >= AT_ONCE) await new Promise<void>((resolve) => void waiting.push(resolve));
      else reading++;
      try {
        mayBegin();
        return await read();
      } finally {
        const next = waiting.shift();
        // Its place is handed on after this answer has left for its socket, and is counted there.
        if (next) setImmediate(next);
        else reading--;
      }
    },
  };
}
