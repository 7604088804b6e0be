import { expect } from "vitest";
import { createRecovery } from "../../src/actors/recovery.ts";
import { systemClock } from "../../src/clock.ts";
import { newFence } from "../../src/domain/fence.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Store, ThreadCommit } from "../../src/store.ts";
import { sampleCommit } from "../stores/samples.ts";

/** Longer than any play of an order takes: who is silent is told by the test, and not by how fast this machine is. */
export const SILENT_MS = 3_600_000;

export type StoreOfProcess = Pick<Store, "processId" | "beat" | "heldBy" | "forget" | "load" | "commit">;

/** One look around, by which everybody who has not beaten for SILENT_MS is silent. */
export async function lookAround(store: StoreOfProcess): Promise<void> {
  const recovery = createRecovery({
    store: {
      ...store,
      beat: () => store.beat(SILENT_MS),
      heldBy: (holder) => (holder === store.processId ? Promise.resolve([]) : store.heldBy(holder)),
      due: () => Promise.resolve([]),
    },
    clock: systemClock,
    // However long this look takes, no second one begins.
    timers: { after: () => () => {} },
    log: { info() {}, warn: (fields) => expect(fields).toBeUndefined(), error() {} },
    isOurs: () => false,
    takeUp: {
      async take(uid, fence) {
        const record = await store.load(uid, 1);
        if (record?.fence !== fence) return;
        await claim(store, { uid, rev: record.rev, readOp: record.lastOp, takesFrom: fence });
      },
      expire: () => Promise.resolve(),
      leftAlone: () => new Set(),
    },
  });
  await recovery.start();
  recovery.stop();
}

export function claim(
  store: StoreOfProcess,
  thread: Pick<ThreadCommit, "uid" | "rev" | "readOp" | "takesFrom">,
) {
  return store.commit(sampleCommit({ ...thread, opId: newId(), fence: newFence(store.processId) }));
}
