import { setTimeout as sleep } from "node:timers/promises";
import type { Suspicion } from "./suspicions.ts";

/** After this many the check stops listing: something is wrong with all of it. */
const MOST = 10_000;

/** How often a suspicion is checked again, and the pause in between: longer than any step of the store takes. */
const LOOKS = 3;
const PAUSE_MS = 100;

export interface FindOptions {
  onSuspicion?: (count: number) => void;
  /** 0: nobody else uses the store. */
  pauseMs?: number;
}

/** The faults of a store that a service may be using: suspicions that hold at every later check. */
export async function findFaults(
  suspicions: AsyncIterable<Suspicion>,
  { onSuspicion = () => {}, pauseMs = PAUSE_MS }: FindOptions = {},
): Promise<{ faults: Suspicion[]; isAll: boolean }> {
  const found: Suspicion[] = [];
  let isAll = true;
  for await (const suspicion of suspicions) {
    found.push(suspicion);
    onSuspicion(found.length);
    isAll = found.length < MOST;
    if (!isAll) break;
  }
  let faults = found;
  const settlesMs = Math.max(0, ...found.map((fault) => fault.settlesMs ?? 0));
  if (settlesMs > 0) await sleep(settlesMs);
  for (let look = 0; look < LOOKS && faults.length > 0; look++) {
    if (look > 0 && pauseMs > 0) await sleep(pauseMs);
    const left: Suspicion[] = [];
    for (const fault of faults) if (await fault.isStill()) left.push(fault);
    faults = left;
  }
  return { faults, isAll };
}
