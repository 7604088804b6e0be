import type { PlainLog } from "../../log.ts";
import type { ServiceProcess } from "./process.ts";

/** The parts of a process that the silence watch needs. */
export type Watched = Pick<ServiceProcess, "number" | "listeningSinceMs" | "heard" | "kill">;

export const LOOK_MS = 1_000;
/**
 * Each process sends its metrics every 5 seconds. After this many looks without a message, other instances have long taken
 * over its runs, and its clients wait in vain.
 */
const MOST_SILENT_LOOKS = 15;

/**
 * Kills a process that hangs, so that its connections end and another process replaces it. It counts looks, not time: if the
 * whole machine was paused, no process is to blame. Call it every LOOK_MS.
 */
export function createSilenceWatch(log: PlainLog): (processes: Iterable<Watched>) => void {
  const silent = new WeakMap<Watched, { heard: number; looks: number }>();

  return (processes) => {
    for (const process of processes) {
      const { heard, number } = process;
      // A start may take any time.
      if (process.listeningSinceMs === null) continue;
      const before = silent.get(process);
      const looks = before?.heard === heard ? before.looks + 1 : 0;
      silent.set(process, { heard, looks });
      if (looks !== MOST_SILENT_LOOKS) continue;
      log.error({ silent: number }, "A process says nothing any more: it is killed");
      process.kill();
    }
  };
}
