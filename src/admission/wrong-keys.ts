import type { Clock } from "../clock.ts";

/**
 * Counts wrong keys by address, in this process: an address with too many within a minute is refused until that minute is
 * over, whatever key it sends.
 */
export interface WrongKeys {
  /** Whole seconds until requests from this address are accepted again; null: now. */
  waitSeconds(address: string): number | null;
  note(address: string): void;
}

const MOST_WRONG_KEYS = 100;
const MINUTE_MS = 60_000;

/** Each costs about 100 bytes. Beyond this the oldest is dropped: a client with so many addresses starts from zero. */
const MOST_ADDRESSES = 100_000;

export function createWrongKeys(clock: Pick<Clock, "now">, mostAddresses = MOST_ADDRESSES): WrongKeys {
  /** In the order in which their minutes began. */
  const minutes = new Map<string, { endsAtMs: number; count: number }>();

  function minuteOf(address: string) {
    const minute = minutes.get(address);
    const leftMs = (minute?.endsAtMs ?? 0) - clock.now();
    // Longer than a minute: the clock was set back.
    if (minute && leftMs > 0 && leftMs <= MINUTE_MS) return minute;
    minutes.delete(address);
    return null;
  }

  return {
    waitSeconds(address) {
      const minute = minuteOf(address);
      if (minute === null || minute.count < MOST_WRONG_KEYS) return null;
      return Math.ceil((minute.endsAtMs - clock.now()) / 1000);
    },

    note(address) {
      const minute = minuteOf(address);
      if (minute !== null) {
        minute.count += 1;
        return;
      }
      if (minutes.size >= mostAddresses) {
        const [oldest = ""] = minutes.keys();
        minutes.delete(oldest);
      }
      minutes.set(address, { endsAtMs: clock.now() + MINUTE_MS, count: 1 });
    },
  };
}
