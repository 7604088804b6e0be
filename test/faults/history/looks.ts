import { expect } from "vitest";
import { createLostThreads } from "../../../src/threads/recover/lost-threads.ts";
import { createRecovery } from "../../../src/threads/recover/recovery.ts";
import { createSilence } from "../../../src/threads/recover/silence.ts";
import { newFence } from "../../../src/domain/threads/fence.ts";
import { newId } from "../../../src/domain/ids.ts";
import type { Heartbeat, Store, ThreadCommit } from "../../../src/store.ts";
import { sampleCommit } from "../../stores/samples.ts";

export type StoreOfProcess = Pick<
  Store,
  "processId" | "beat" | "enter" | "holders" | "heldBy" | "forget" | "load" | "commit"
>;

const LONG_MS = 3_600_000;

/**
 * One look around, by which everybody is silent who has not beaten since it was `seen`; without that, heartbeats are
 * asked for first.
 */
export async function lookAround(store: StoreOfProcess, seen?: readonly Heartbeat[]): Promise<void> {
  let nowMs = 0;
  const clock = { now: () => nowMs, elapsed: () => nowMs };
  const silence = createSilence(clock);
  await silence.look(() => (seen ? Promise.resolve([...seen]) : store.beat()));
  nowMs += LONG_MS;
  // Of what this process holds itself nothing is lost; of what earlier ones held on the embedded store, everything.
  const lostToStart = {
    ...store,
    heldBy: (holder: string | null) => (holder === null ? store.heldBy(null) : Promise.resolve([])),
  };
  const recovery = createRecovery({
    store: { ...store, due: () => Promise.resolve([]), onReconnect: () => () => {} },
    clock,
    // However long this look takes, no second one begins.
    timers: { after: () => () => {} },
    log: { info() {}, warn: (fields) => expect(fields).toBeUndefined(), error() {} },
    silence,
    lost: createLostThreads({ store: lostToStart, clock, isOurs: () => false }),
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
