import type { PlainLog } from "../../log.ts";
import type { ServiceProcess } from "./process.ts";

/** A process, as whoever listens for its signs of life has it. */
export type Watched = Pick<ServiceProcess, "number" | "listeningSinceMs" | "heard" | "kill">;

export const LOOK_MS = 1_000;
/**
 * Each process tells its metrics every 5 seconds. After so many looks without a word its runs are long others', and who is
 * connected to it waits in vain.
 */
const MOST_SILENT_LOOKS = 15;

/**
 * Kills a process that hangs, so that its connections end and another takes its place. Looks are counted and not time: where
 * the whole machine stood still, nobody is to blame. Call it every LOOK_MS.
 */
export function createSilenceWatch(log: PlainLog): (processes: Iterable<Watched>) => void {
  const silent = new WeakMap<Watched, { heard: number; looks: number }>();

  return (processes) => {
    for (const process of processes) {
      const { heard, number } = process;
      // How long a start may take is not known.
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
