import type { Log } from "../log.ts";

/** Counts errors that nobody caught. */
export interface UncaughtErrors {
  count(): number;
  stop(): void;
}

/**
 * An uncaught error is a bug of ours. It is logged and counted, and ends no other stream (P30): everything that must
 * survive it is in the store, guarded by fences, and not in this process.
 */
export function watchForUncaughtErrors(log: Log): UncaughtErrors {
  let count = 0;
  const note = (error: unknown, origin: string) => {
    count++;
    log.error({ err: error, origin }, "Cannot let this error pass unseen: nobody caught it");
  };
  const rejected = (reason: unknown) => note(reason, "unhandledRejection");
  process.on("unhandledRejection", rejected);
  process.on("uncaughtException", note);
  return {
    count: () => count,
    stop() {
      process.off("unhandledRejection", rejected);
      process.off("uncaughtException", note);
    },
  };
}
