import { readdirSync, readFileSync } from "node:fs";

/** New requests are refused above this share: a process out of descriptors cannot accept, and uWebSockets.js then spins. */
const FULL_SHARE = 0.9;

/** A request may hold two: its client's, and its model's. Fewer in flight than this makes, and nobody needs to count. */
const PER_REQUEST = 2;

/** Counting 20,000 descriptors takes milliseconds: once a second is often enough. */
const COUNT_EVERY_MS = 1_000;

/** The process's soft limit of open files; Infinity where the system does not say. */
export function descriptorLimit(): number {
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

/** A gate that says, for a number of requests in flight, whether the process is too near its limit to take one more. */
export function descriptorGate(
  limit = descriptorLimit(),
  count = openDescriptors,
  elapsed = () => performance.now(),
): (inFlight: number) => boolean {
  const fullAt = limit * FULL_SHARE;
  let countedAtMs = -Infinity;
  let open = 0;

  return (inFlight) => {
    if (inFlight * PER_REQUEST <= fullAt) return false;
    if (inFlight > fullAt) return true;
    if (elapsed() - countedAtMs >= COUNT_EVERY_MS) {
      countedAtMs = elapsed();
      open = count();
    }
    return open > fullAt;
  };
}
