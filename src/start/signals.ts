import { systemClock } from "../clock.ts";
import { createDeadline } from "../stores/deadline.ts";
import { holdChangesForGood } from "../stores/engines/lmdb/changes.ts";

/** SIGTERM and SIGINT: the first asks for a clean stop, the second exits at once (P29). */
export interface Signals {
  /** `retire`: another process has taken this one's place (PROCESSES). */
  first: Promise<NodeJS.Signals | "retire">;
  stop(): void;
}

const STOPPING = ["SIGTERM", "SIGINT"] as const;

/** A person does not send a second signal so soon, and npm forwards one sooner. */
const HANDED_ON_MS = 1_000;

/**
 * `isHandedOn`: npm started this process. A terminal sends Ctrl-C to both, and npm forwards it: it arrives twice, and counts
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

/** Longest wait for transactions that have begun; if the disk hangs, or another process has the lock, they never end. */
const CHANGES_MS = 1_000;

/** Exits between two transactions: `holdChangesForGood` says what an exit during one would cause. */
async function exitAtOnce(): Promise<void> {
  const late = () => new Error("A change of the embedded store does not end");
  await createDeadline(CHANGES_MS)
    .bound(holdChangesForGood(), late)
    .catch(() => process.kill(process.pid, "SIGKILL"));
  process.exit(1);
}
