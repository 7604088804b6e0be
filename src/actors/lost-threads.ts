import type { Clock } from "../clock.ts";
import { holderOf } from "../domain/fence.ts";
import { UnreadableRecord } from "../store.ts";
import type { Hold, InstanceStore, Store } from "../store.ts";

/**
 * Threads that the store says this process holds, and of which nothing here knows: a claim whose answer was lost, a
 * release that a failover undid, a fault. On the embedded store also those of earlier processes.
 *
 * A thread of which that may be so is looked at soon, and all of them after a new connection to the store. Besides, they
 * are looked for slowly, a slice at a time, since nobody tells when an address begins to lead to another server.
 */
export interface LostThreads {
  /** Whether this process holds this thread is not certain. */
  suspect(uid: string): void;
  /** Any thread may be meant. */
  suspectAll(): void;
  /** What there is to take up now. `instances`: how many share the store. */
  look(instances: number, take: (lost: Hold[]) => Promise<void>): Promise<void>;
}

/** A request may arrive at the store after its sender gave up: a suspect is looked at for so long, so often. */
const SUSPECT_MS = 30_000;
const AGAIN_MS = 5_000;
/** More suspects than this are looked for in one go: it takes the store as many commands. */
const MOST_SUSPECTS = 256;
/** All instances together look at so many slices in ten seconds: of a few instances each has seen all in half a minute. */
const SLICES = 64;
const SLICES_IN_TEN_SECONDS = 35;
/**
 * What another process holds on the embedded store is taken up when it is still held after so long: a command line
 * beside the service holds a thread for the moment in which it stops its runs.
 */
const OTHERS_MS = 2_000;

export function createLostThreads({
  store,
  clock,
  isOurs,
}: {
  store: Pick<InstanceStore, "processId" | "heldBy"> & Pick<Store, "load">;
  clock: Pick<Clock, "elapsed">;
  /** Does this process mean to hold by this fence? */
  isOurs: (fence: string) => boolean;
}): LostThreads {
  const suspects = new Map<string, { nextMs: number; untilMs: number }>();
  let suspectsAll = true;
  /** By their fences: since when others hold what they hold. */
  let heldSince = new Map<string, number>();
  let slice = 0;
  let nextSliceMs = clock.elapsed();

  const isLost = ({ fence }: Hold) => !isOurs(fence);

  async function lookAtAll(take: (lost: Hold[]) => Promise<void>): Promise<void> {
    suspectsAll = false;
    try {
      await take([...(await store.heldBy(null)), ...(await store.heldBy(store.processId))].filter(isLost));
    } catch (error) {
      suspectsAll = true;
      throw error;
    }
  }

  async function lookAt(uid: string): Promise<Hold[]> {
    try {
      const fence = (await store.load(uid, 0, "active"))?.fence;
      return fence && holderOf(fence) === store.processId && !isOurs(fence) ? [{ uid, fence }] : [];
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      // Who holds it is known beside it, too; what it is is for who takes it up.
      return (await store.heldBy(store.processId)).filter((hold) => hold.uid === uid && isLost(hold));
    }
  }

  async function lookAtSuspects(take: (lost: Hold[]) => Promise<void>): Promise<void> {
    const nowMs = clock.elapsed();
    const lost: Hold[] = [];
    for (const [uid, { nextMs, untilMs }] of suspects) {
      if (nowMs < nextMs) continue;
      lost.push(...(await lookAt(uid)));
      if (nowMs >= untilMs) suspects.delete(uid);
      else suspects.set(uid, { nextMs: nowMs + AGAIN_MS, untilMs });
    }
    await take(lost);
  }

  async function lookAtSlice(instances: number, take: (lost: Hold[]) => Promise<void>): Promise<void> {
    const nowMs = clock.elapsed();
    if (nowMs < nextSliceMs) return;
    nextSliceMs = nowMs + (instances * 10_000) / SLICES_IN_TEN_SECONDS;
    const share = { rank: slice, of: SLICES };
    const left = leftBehind(await store.heldBy(null, share), nowMs);
    const held = [...left, ...(await store.heldBy(store.processId, share))];
    slice = (slice + 1) % SLICES;
    await take(held.filter(isLost));
  }

  /** Those that were held by the same fence for longer than moments. */
  function leftBehind(others: Hold[], nowMs: number): Hold[] {
    heldSince = new Map(others.map(({ fence }) => [fence, heldSince.get(fence) ?? nowMs]));
    return others.filter(({ fence }) => nowMs - (heldSince.get(fence) ?? nowMs) >= OTHERS_MS);
  }

  return {
    suspect(uid) {
      const nowMs = clock.elapsed();
      const nextMs = suspects.get(uid)?.nextMs ?? nowMs;
      if (suspects.size < MOST_SUSPECTS) suspects.set(uid, { nextMs, untilMs: nowMs + SUSPECT_MS });
      else suspectsAll = true;
    },

    suspectAll: () => void (suspectsAll = true),

    async look(instances, take) {
      if (suspectsAll) await lookAtAll(take);
      await lookAtSuspects(take);
      await lookAtSlice(instances, take);
    },
  };
}
