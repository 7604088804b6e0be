import type { Clock } from "../clock.ts";
import type { Deletion, DeletionStore, Share } from "../store.ts";
import { isInShare } from "./in-share.ts";
import { tryEach } from "./try-each.ts";

/**
 * Carries out planned deletions once more when they are old enough that no late write is still under way. This finishes what
 * a dead process left undone, erases what an instance of an earlier version wrote meanwhile, and removes the tokens. Each
 * deletion is handled separately: one that is late or fails delays no other, and comes last in the next round.
 *
 * Each instance begins with its share; after a while any instance takes what is left, since 0.1.0 does none of this.
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
  store: Pick<DeletionStore, "eraseTokens" | "endDeletion">;
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

  /** Resolves to the deletions for which `work` succeeded. */
  async function each(deletions: readonly Deletion[], work: (deletion: Deletion) => Promise<void>) {
    const tried = await tryEach(deletions, work, {
      atATime: AT_A_TIME,
      mostLateInARow: MOST_LATE_IN_A_ROW,
      isStopped,
      onFailure,
    });
    for (const [deletion, outcome] of tried) if (outcome !== "done") failed.add(nameOf(deletion));
    return deletions.filter((deletion) => tried.get(deletion) === "done");
  }

  async function settleThread(deletion: Deletion): Promise<void> {
    await carryOut(deletion);
    await store.endDeletion(deletion);
  }

  return async (planned) => {
    const before = failed;
    failed = new Set();
    const due = planned.filter(isDue);
    const lastTime = (deletion: Deletion) => Number(before.has(nameOf(deletion)));
    const inTurn = due.toSorted((a, b) => lastTime(a) - lastTime(b));
    await each(inTurn.filter(isThread), settleThread);
    const users = await each(
      inTurn.filter((deletion) => !isThread(deletion)),
      carryOut,
    );
    for (const [slug, gone] of bySlug(users)) {
      await store.eraseTokens(
        slug,
        gone.map(({ id }) => id),
      );
    }
    await each(users, (deletion) => store.endDeletion(deletion));
  };
}

function isThread({ kind }: Deletion): boolean {
  return kind === "thread";
}

function nameOf({ kind, slug, id }: Deletion): string {
  return `${kind} ${slug} ${id}`;
}

/** Grouped by channel: one walk over a channel's tokens serves all of them. */
function bySlug(deletions: readonly Deletion[]): Map<string, Deletion[]> {
  const found = new Map<string, Deletion[]>();
  for (const deletion of deletions) {
    found.set(deletion.slug, [...(found.get(deletion.slug) ?? []), deletion]);
  }
  return found;
}
