import { findFaults } from "./find-faults.ts";
import type { FindOptions } from "./find-faults.ts";
import type { Suspicion } from "./suspicions.ts";

/** What a check tells of. */
export interface Told {
  fault: Suspicion;
  repaired: boolean;
}

/** Each walk repairs what the one before has uncovered, or had no room for. */
const MOST_WALKS = 20;

/**
 * The faults of a store; with `repair`, also those that were repaired. One repair can uncover another fault: the names of a
 * user who is gone are forgotten, and then the threads have no name. So it walks again until a walk finds nothing to repair.
 * `isAll`: false if there are more.
 */
export async function checkStore(
  walk: () => AsyncIterable<Suspicion>,
  { repair, ...options }: FindOptions & { repair: boolean },
): Promise<{ told: Told[]; isAll: boolean }> {
  const mended = new Map<string, Told>();
  for (let walks = 1; ; walks++) {
    const { faults, isAll } = await findFaults(walk(), options);
    // A walk may come to a record twice.
    const left = new Map<string, Told>();
    let repairs = 0;
    for (const fault of faults) {
      const repaired = repair && (await isMended(fault));
      if (repaired) repairs += 1;
      (repaired ? mended : left).set(`${fault.rule} ${fault.what}`, { fault, repaired });
    }
    if (repairs > 0 && walks < MOST_WALKS) continue;
    const repaired = [...mended].filter(([name]) => !left.has(name)).map(([, told]) => told);
    return { told: [...repaired, ...left.values()], isAll };
  }
}

/** False: it cannot be repaired, or others break it again and again. */
async function isMended(fault: Suspicion): Promise<boolean> {
  await fault.mend?.();
  return fault.mend !== undefined && !(await fault.isStill());
}
