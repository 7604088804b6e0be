// For src/operators/threads/thread-changes.ts
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { createThreadChanges } from "../../../src/operators/threads/thread-changes.ts";
import type { ThreadChanges, ToldChange } from "../../../src/operators/threads/thread-changes.ts";
import type { Store, ThreadCommit } from "../../../src/store.ts";
import { sampleChannel, sampleCommit, sampleMessage } from "../../stores/samples.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";

const WITHIN = { timeout: 30_000, interval: 20 };

describe.each(storeKinds)("changes of threads on two instances of the $name store", ({ prepare }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await prepare();
  });
  afterAll(() => database.remove());

  let here: Store;
  let there: Store;
  let changes: ThreadChanges;
  let told: ToldChange[] = [];
  let atMs = 0;
  beforeEach(async () => {
    await database.clear();
    [here, there] = [await database.open(), await database.open()];
    await here.putChannel(sampleChannel());
    told = [];
    changes = createThreadChanges({
      store: there,
      slugs: () => ["shop"],
      clock: systemClock,
      log: { warn() {} },
    });
    changes.onTold((some) => void told.push(...some));
    return async () => {
      changes.stop();
      await Promise.all([here.close(), there.close()]);
    };
  });

  /** No two steps are of one millisecond: a thread that changes in the one of its creation looks unchanged. */
  const nextMs = () => (atMs = Math.max(Date.now(), atMs + 1));

  async function addThread(name: string): Promise<void> {
    const caller = { slug: "shop", externalId: "kim", displayName: null, newUserId: "u", creates: true };
    await here.admitUser({ ...caller, thread: { name, newUid: name }, atMs: nextMs() });
  }

  async function commit(uid: string, changed: Partial<ThreadCommit>): Promise<void> {
    const base = { uid, slug: "shop", fence: `${here.processId}:a`, opId: `${uid} ${Math.random()}` };
    const result = await here.commit(sampleCommit({ ...base, atMs: nextMs(), ...changed }));
    expect(result).toMatchObject({ type: "committed" });
  }

  const said = (nth: number) => ({ messages: [sampleMessage(nth, { createdAtMs: nextMs() })] });
  const states = () => told.map(({ thread: { uid, state } }) => `${uid} ${state}`);

  test("what one commits is told by the other, calls of the page too", async () => {
    await addThread("old");
    await changes.start();
    await addThread("t");
    await commit("t", { ...said(1), state: "running", holds: true });
    await expect.poll(() => states().at(-1), WITHIN).toBe("t running");
    const goesOn = { claims: false, holds: false };
    await commit("t", {
      ...goesOn,
      rev: 1,
      state: "awaiting",
      messages: [],
      deadlineMs: Date.now() + 60_000,
    });
    await expect.poll(() => states().at(-1), WITHIN).toBe("t awaiting");
    await commit("t", {
      rev: 2,
      readOp: (await here.load("t", 1))?.lastOp ?? null,
      state: "idle",
      holds: false,
      ...said(2),
    });
    await expect.poll(() => states().at(-1), WITHIN).toBe("t idle");
    expect(states().filter((one) => one.startsWith("old"))).toEqual([]);
    expect(told.map(({ nth }) => nth)).toEqual(told.map((_, at) => at + 1));
  });

  test("a run that begins and ends between two readings is told as running all the same", async () => {
    await addThread("t");
    await changes.start();
    await commit("t", { ...said(1), state: "idle", holds: false });
    await expect.poll(() => states().at(-1), WITHIN).toBe("t idle");
    expect(states().slice(-2)).toEqual(["t running", "t idle"]);
  });
});
