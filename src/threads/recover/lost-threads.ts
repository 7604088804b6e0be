import type { Clock } from "../../clock.ts";
import { holderOf } from "../../domain/threads/fence.ts";
import { UnreadableRecord } from "../../store.ts";
import type { Hold, InstanceStore, Store } from "../../store.ts";

/**
 * Finds threads that the store says this process holds but nothing here knows of: after a claim whose answer was lost, a
 * release that a failover undid, or a fault. On the embedded store also the threads of earlier processes.
 *
 * A suspected thread is checked soon; after a new connection to the store all are. Besides this, all threads are checked
 * slowly, a slice at a time, because nothing announces that the store's address now leads to another server.
 */
export interface LostThreads {
  /** It is uncertain whether this process holds this thread. */
  suspect(uid: string): void;
  /** Any thread may be lost. */
  suspectAll(): void;
  /** Passes the lost threads that are due for a check to `take`. `instances`: how many share the store. */
  look(instances: number, take: (lost: Hold[]) => Promise<void>): Promise<void>;
}

/** A request may reach the store after its sender gave up: a suspect is checked for so long, this often. */
const SUSPECT_MS = 30_000;
const AGAIN_MS = 5_000;
/** With more suspects than this, all threads are checked in one go: it costs the store as many commands. */
const MOST_SUSPECTS = 256;
/** All instances together check this many slices in ten seconds: with a few instances, each sees all in half a minute. */
const SLICES = 64;
const SLICES_IN_TEN_SECONDS = 35;
/**
 * On the embedded store, a thread held by another process is taken up only if it is still held after this time: a
 * command beside the service holds a thread briefly while it stops its run.
 */
const OTHERS_MS = 2_000;

export function createLostThreads({
  store,
  clock,
  isOurs,
}: {
  store: Pick<InstanceStore, "processId" | "heldBy"> & Pick<Store, "load">;
  clock: Pick<Clock, "elapsed">;
  /** Is this fence claimed by this process? */
  isOurs: (fence: string) => boolean;
}): LostThreads {
  const suspects = new Map<string, { nextMs: number; untilMs: number }>();
  let suspectsAll = true;
  /** By fence: since when another process has been seen to hold a thread. */
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
      // The list of holders can still be read; the unreadable record is dealt with when the thread is taken up.
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

  /** Threads that were held under the same fence for longer than OTHERS_MS. */
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
