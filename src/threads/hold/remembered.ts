import type { Clock } from "../../clock.ts";
import type { HistorySummary } from "../../domain/threads/history-summary.ts";
import type { Message } from "../../domain/threads/message.ts";
import { newestWithin } from "../../domain/threads/newest-within.ts";
import type { ThreadRecord } from "../../store.ts";

/**
 * Threads as this process released them lately: a message to one of them reads nothing. A guess, never a fact: the claim that
 * it leads to names what it is based on, and is refused if the thread has changed since.
 */
export interface Remembered {
  /** The thread, which is then known no longer: whoever claims it changes it. Undefined: it must be read. */
  take(uid: string): ThreadRecord | undefined;
  set(record: ThreadRecord): void;
  /** The beginning of its history was summarised. */
  summarized(uid: string, summary: HistorySummary): void;
  forget(uid: string): void;
}

/** As long as an opened text is known under CONTENT_KEYS. */
const KEPT_MS = 60_000;
/** Of all threads together: some 32 MB. */
const MOST_CHARS = 16_777_216;
/** What a thread and each of its messages take beside their text. */
const CHARS_BESIDE = 1_000;

export function createRemembered(
  clock: Pick<Clock, "elapsed">,
  { historyBudgetChars }: { historyBudgetChars: number },
): Remembered {
  /** The one that was released first comes first. */
  const known = new Map<string, { record: ThreadRecord; chars: number; sinceMs: number }>();
  let chars = 0;

  function drop(uid: string): ThreadRecord | undefined {
    const one = known.get(uid);
    if (!one) return undefined;
    known.delete(uid);
    chars -= one.chars;
    return one.record;
  }

  function dropOld(): void {
    const sinceMs = clock.elapsed() - KEPT_MS;
    for (const [uid, one] of known) {
      if (one.sinceMs > sinceMs && chars <= MOST_CHARS) return;
      drop(uid);
    }
  }

  return {
    take(uid) {
      dropOld();
      return drop(uid);
    },

    set(record) {
      drop(record.uid);
      const tail = newestWithin(record.tail, historyBudgetChars);
      const its = tail.reduce((sum, message) => sum + sizeOf(message), CHARS_BESIDE);
      known.set(record.uid, { record: { ...record, tail }, chars: its, sinceMs: clock.elapsed() });
      chars += its;
      dropOld();
    },

    summarized(uid, historySummary) {
      const one = known.get(uid);
      if (one) one.record = { ...one.record, historySummary };
    },

    forget: (uid) => void drop(uid),
  };
}

function sizeOf({ content }: Message): number {
  return content.length + CHARS_BESIDE;
}
