import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../errors.ts";
import type { PlainLog } from "../log.ts";
import type { ChannelThreadStore } from "../store.ts";

/** Pause between two steps, so that conversations have priority. */
const STEP_MS = 10;
/** A channel may be restored, or written by an earlier version, at any time. */
const AGAIN_MS = 60_000;

/** In the background, adds threads and blocked users of earlier versions to the orders. Returns how to stop. */
export function keepFilling({
  store,
  log,
}: {
  store: Pick<ChannelThreadStore, "fillOrders">;
  log: Pick<PlainLog, "warn">;
}): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;

  async function fill(): Promise<void> {
    while (!signal.aborted) {
      let hasMore = false;
      try {
        hasMore = await store.fillOrders();
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ reason: messageOf(error) }, "cannot fill the orders of threads: trying again");
      }
      await sleep(hasMore ? STEP_MS : AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  void fill();
  return () => stopped.abort();
}
