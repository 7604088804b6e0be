import { retryDuringOutage } from "../actors/retry-during-outage.ts";
import type { Directory } from "../admission/directory.ts";
import { oneAtATime } from "../admission/one-at-a-time.ts";
import type { Timers } from "../clock.ts";
import { Refusal } from "../domain/refusal.ts";
import type { PlainLog } from "../log.ts";
import type { Store } from "../store.ts";

/**
 * No command removes a channel. Where one is gone that this start wrote, the store was emptied beneath the service, as a
 * Redis is that keeps nothing over its own restart: without another start nobody would be let in any more. It is written
 * again, as on a new store. Channels that are there stay as they are. Returns how to stop.
 */
export function keepChannels(options: {
  store: Pick<Store, "isRestoring" | "onChange" | "onReconnect">;
  directory: Pick<Directory, "renew" | "channel">;
  /** That this start wrote. */
  slugs: readonly string[];
  write: (lost: ReadonlySet<string>) => Promise<void>;
  timers: Timers;
  log: Pick<PlainLog, "warn">;
}): () => void {
  const { store, directory, slugs, write, timers, log } = options;
  let stopped = false;
  const isWanted = () => !stopped;
  const look = oneAtATime(() =>
    retryDuringOutage(timers, mend, { isWanted, onAway: () => {} }).then(() => {}),
  );

  async function mend(): Promise<void> {
    await directory.renew();
    const lost = new Set(slugs.filter((slug) => isLost(slug)));
    if (lost.size === 0 || (await store.isRestoring())) return;
    log.warn({ channels: [...lost] }, "The store has lost channels: they are written again");
    await write(lost);
    await directory.renew();
  }

  /** One that cannot be read is there. */
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
  return () => {
    stopped = true;
    for (const stop of stops) stop();
  };
}
