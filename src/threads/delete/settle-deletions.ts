import type { Clock } from "../../clock.ts";
import type { Deletion, DeletionStore, Share } from "../../store.ts";
import { isInShare } from "./in-share.ts";
import { tryEach } from "./try-each.ts";

/**
 * Carries out planned deletions once more when they are old enough that no late write is still under way. This finishes what
 * a dead process left undone. Each deletion is handled separately: one that is late or fails delays no other, and comes last
 * in the next round.
 *
 * Each instance begins with its share; after a while any instance takes what is left.
 */
export type Settle = (planned: readonly Deletion[]) => Promise<void>;

/** Contract: within 60 s everything is gone. */
const SETTLED_MS = 35_000;
const ANYBODYS_MS = 45_000;
/** Done together, they share flushes to the disk. */
const AT_A_TIME = 4;
/** After so many the store is taken to be away; the next round begins with the others. */
const MOST_LATE_IN_A_ROW = 8;

export function createSettling(options: {
  store: Pick<DeletionStore, "endDeletion">;
  clock: Pick<Clock, "now">;
  share: () => Share;
  carryOut: (deletion: Deletion) => Promise<void>;
  onFailure: (error: unknown) => void;
  isStopped: () => boolean;
}): Settle {
  const { store, clock, share, carryOut, onFailure, isStopped } = options;
  let failed = new Set<string>();

  function isDue({ id, atMs }: Deletion): boolean {
    const ageMs = clock.now() - atMs;
    return ageMs >= ANYBODYS_MS || (ageMs >= SETTLED_MS && isInShare(id, share()));
  }

  async function settleOne(deletion: Deletion): Promise<void> {
    await carryOut(deletion);
    await store.endDeletion(deletion);
  }

  return async (planned) => {
    const before = failed;
    const lastTime = (deletion: Deletion) => Number(before.has(nameOf(deletion)));
    const inTurn = planned.filter(isDue).toSorted((a, b) => lastTime(a) - lastTime(b));
    const tried = await tryEach(inTurn, settleOne, {
      atATime: AT_A_TIME,
      mostLateInARow: MOST_LATE_IN_A_ROW,
      isStopped,
      onFailure,
    });
    failed = new Set([...tried].filter(([, outcome]) => outcome !== "done").map(([one]) => nameOf(one)));
  };
}

function nameOf({ kind, slug, id }: Deletion): string {
  return `${kind} ${slug} ${id}`;
}
