import type { Log } from "../log.ts";

/** Counts errors that nobody caught. */
export interface Faults {
  count(): number;
  stop(): void;
}

/**
 * An error that nobody caught is a bug of ours, told and counted, and never the end of everybody else's streams (P30):
 * what must hold over it is in the store, guarded by fences, and not in this process.
 */
export function watchForFaults(log: Log): Faults {
  let count = 0;
  const tell = (error: unknown, origin: string) => {
    count++;
    log.error({ err: error, origin }, "Cannot let this error pass unseen: nobody caught it");
  };
  const rejected = (reason: unknown) => tell(reason, "unhandledRejection");
  process.on("unhandledRejection", rejected);
  process.on("uncaughtException", tell);
  return {
    count: () => count,
    stop() {
      process.off("unhandledRejection", rejected);
      process.off("uncaughtException", tell);
    },
  };
}
