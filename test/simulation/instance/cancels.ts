import type { Threads } from "../../../src/threads/threads.ts";
import type { Cancel } from "../happening.ts";
import type { WatchLoads } from "../store/open.ts";
import type { World } from "../world.ts";
import type { Process } from "./process.ts";

/**
 * Tells the checker of each cancel, and when it chooses the run that it ends: at once where this process holds the
 * thread, else when its first reading of the store takes place. The threads do what they do.
 */
export function watchCancels(
  { judge, time }: World,
  { id }: Process,
): { watchLoad: WatchLoads; over: (threads: Threads) => Threads } {
  let beginning: Cancel | null = null;

  return {
    watchLoad(uid) {
      const cancel = beginning;
      if (cancel?.uid !== uid) return () => {};
      cancel.reads = true;
      // A repeated call reads again: the last reading may be the one that is answered.
      return () => void (cancel.readAtMs = time.nowMs);
    },

    over: (threads) => ({
      ...threads,
      async cancel(uid) {
        const cancel: Cancel = { uid, by: id, begunAtMs: time.nowMs, readAtMs: null, reads: false };
        judge({ type: "cancel begun", cancel });
        beginning = cancel;
        const ending = threads.cancel(uid);
        beginning = null;
        await ending;
        judge({ type: "cancel ended", cancel });
      },
    }),
  };
}
