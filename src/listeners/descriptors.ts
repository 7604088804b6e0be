import { readdirSync, readFileSync } from "node:fs";

/**
 * New requests are refused above this share: a process out of descriptors cannot accept, and uWebSockets.js then spins.
 * At a limit of 20,000 it leaves room for 9,000 streams, which hold two each.
 */
const FULL_SHARE = 0.92;

/** A request may hold two: its client's, and its model's. */
const PER_REQUEST = 2;

/** Counting 20,000 descriptors takes milliseconds: once a second is often enough. */
const COUNT_EVERY_MS = 1_000;

/** The process's soft limit of open files; Infinity if the system does not say. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
    return line ? Number(line[1]) : Infinity;
  } catch {
    return Infinity;
  }
}

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/**
 * True if a process with this many requests in flight is too near its limit to take one more. It counts open
 * descriptors, because idle connections, files and the store's connections are open too; between two counts, each new
 * request counts as the most that it may hold.
 */
export function descriptorGate(
  limit = descriptorLimit(),
  count = openDescriptors,
  elapsed = () => performance.now(),
): (inFlight: number) => boolean {
  if (limit === Infinity) return () => false;
  const fullAt = limit * FULL_SHARE;
  let countedAtMs = -Infinity;
  let counted = { open: 0, inFlight: 0 };

  return (inFlight) => {
    if (elapsed() - countedAtMs >= COUNT_EVERY_MS) {
      countedAtMs = elapsed();
      counted = { open: count(), inFlight };
    }
    return counted.open + PER_REQUEST * Math.max(0, inFlight - counted.inFlight) > fullAt;
  };
}
