import { retryDuringOutage } from "../threads/recover/retry-during-outage.ts";
import type { Directory } from "../admission/directory.ts";
import { oneAtATime } from "../admission/one-at-a-time.ts";
import type { Timers } from "../clock.ts";
import { Refusal } from "../domain/refusal.ts";
import type { PlainLog } from "../log.ts";
import { NewerRecord, UnreadableRecord } from "../store.ts";
import type { Store } from "../store.ts";

/**
 * No command removes a channel. If one that this start wrote is gone, the store was emptied while the service ran, as
 * happens when a Redis without persistence restarts: nobody would be let in until the next start. So the lost channels are
 * written again, as on a new store; existing channels stay as they are. Returns a function that stops this.
 */
export function keepChannels(options: {
  store: Pick<Store, "channel" | "putChannel" | "isRestoring" | "onChange" | "onReconnect">;
  directory: Pick<Directory, "renew" | "channel">;
  /** The channels that this start wrote. */
  slugs: readonly string[];
  /** Those of them that could not be written yet: their part of the store is away. Emptied when they are. */
  away?: Set<string>;
  write: (lost: ReadonlySet<string>) => Promise<void>;
  timers: Timers;
  log: Pick<PlainLog, "warn">;
}): () => void {
  const { store, directory, slugs, away = new Set<string>(), write, timers, log } = options;
  let stopped = false;
  const isWanted = () => !stopped;
  const look = oneAtATime(() =>
    retryDuringOutage(timers, mend, { isWanted, onAway: () => {} }).then(() => {}),
  );

  async function mend(): Promise<void> {
    await directory.renew();
    const lost = new Set(slugs.filter((slug) => !away.has(slug) && isLost(slug)));
    if (lost.size + away.size === 0 || (await store.isRestoring())) return;
    for (const slug of lost) if (await isListedAgain(slug)) lost.delete(slug);
    if (lost.size > 0) {
      log.warn({ channels: [...lost] }, "The store has lost channels: they are written again");
    }
    const missing = new Set([...lost, ...away]);
    if (missing.size > 0) await write(missing);
    away.clear();
    await directory.renew();
  }

  /** If one node of a cluster came back empty, only the list of channels may be lost: a record that is still there is listed again. */
  async function isListedAgain(slug: string): Promise<boolean> {
    try {
      const found = await store.channel(slug);
      if (found !== null) await store.putChannel(found);
      return found !== null;
    } catch (error) {
      // A record of a newer version is never overwritten.
      if (error instanceof UnreadableRecord) return error instanceof NewerRecord;
      throw error;
    }
  }

  /** A channel whose record cannot be read still exists. */
  function isLost(slug: string): boolean {
    try {
      return directory.channel(slug) === null;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  function lookNow(): void {
    look().catch((error: unknown) =>
      log.warn({ err: error }, "Cannot write channels that the store has lost"),
    );
  }

  const stops = [store.onChange(lookNow), store.onReconnect(lookNow)];
  if (away.size > 0) lookNow();
  return () => {
    stopped = true;
    for (const stop of stops) stop();
  };
}
