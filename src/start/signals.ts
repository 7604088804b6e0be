import { systemClock } from "../clock.ts";
import { createDeadline } from "../stores/deadline.ts";
import { holdChangesForGood } from "../stores/embedded/opening.ts";

/** SIGTERM and SIGINT: the first asks for an orderly stop, the second does not wait for it (P29). */
export interface Signals {
  /** `retire`: another process has taken this one's place (PROCESSES). */
  first: Promise<NodeJS.Signals | "retire">;
  stop(): void;
}

const STOPPING = ["SIGTERM", "SIGINT"] as const;

/** Nobody asks twice so soon, and npm hands a signal on sooner. */
const HANDED_ON_MS = 1_000;

/**
 * `isHandedOn`: npm started this process. A terminal tells Ctrl-C to both, and npm hands it on: it comes twice, and asks
 * once.
 */
export function watchForSignals({ isHandedOn = false } = {}): Signals {
  let askedAtMs: number | null = null;
  let resolveFirst: (signal: NodeJS.Signals) => void;
  const first = new Promise<NodeJS.Signals>((resolve) => {
    resolveFirst = resolve;
  });
  const receive = (signal: NodeJS.Signals) => {
    const nowMs = systemClock.elapsed();
    if (askedAtMs === null) {
      askedAtMs = nowMs;
      resolveFirst(signal);
    } else if (!isHandedOn || nowMs - askedAtMs >= HANDED_ON_MS) void exitAtOnce();
  };
  for (const signal of STOPPING) process.on(signal, receive);
  return {
    first,
    stop() {
      for (const signal of STOPPING) process.off(signal, receive);
    },
  };
}

/** So long do the changes take that have begun; where the disk hangs, or another process keeps the lock, they take for ever. */
const CHANGES_MS = 1_000;

/** Between two changes: what an exit during one comes to is told at `holdChangesForGood`. */
async function exitAtOnce(): Promise<void> {
  const late = () => new Error("A change of the embedded store does not end");
  await createDeadline(CHANGES_MS)
    .bound(holdChangesForGood(), late)
    .catch(() => process.kill(process.pid, "SIGKILL"));
  process.exit(1);
}
