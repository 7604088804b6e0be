import { describe, expect, it } from "vitest";
import type { CommitResult, Store, ThreadCommit } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { SLUG, BUDGET_CHARS, sampleCommit, sampleMessage, sampleRun, sampleWaiting } from "../samples.ts";

const committed = (rev: number, next: Extract<CommitResult, { type: "committed" }>["next"] = null) => ({
  type: "committed",
  rev,
  next,
});

/** The thread t1, claimed by the fence that is returned. */
async function claimed(store: Store): Promise<string> {
  const fence = `${store.processId}:a`;
  const messages = [sampleMessage(1), sampleMessage(2)];
  expect(await store.commit(sampleCommit({ opId: "claim", fence, messages }))).toEqual(committed(1));
  return fence;
}

/** Commits to the thread that `claimed` made. */
function commits(store: Store, opId: string, changes: Partial<ThreadCommit> = {}) {
  return store.commit(
    sampleCommit({ opId, fence: `${store.processId}:a`, claims: false, rev: 1, ...changes }),
  );
}

const another = (store: Store) => ({ claims: true, fence: `${store.processId}:b` });

export function commitPromises(bench: Bench): void {
  describe("commit", () => {
    it("the first commit makes the thread; load reads back all that it said", async () => {
      const { store } = bench.it;
      expect(await store.load("t1", BUDGET_CHARS)).toBeNull();
      const fence = await claimed(store);
      expect(await store.load("t1", BUDGET_CHARS)).toEqual({
        uid: "t1",
        slug: "shop",
        rev: 1,
        lastOp: "claim",
        fence,
        state: "running",
        snapshot: "snapshot of claim",
        catalog: [],
        catalogId: null,
        run: sampleRun("r1"),
        tail: [sampleMessage(1), sampleMessage(2)],
        messageCount: 2,
        waitingCount: 0,
      });
    });

    it("P5: of the claims of two processes one is committed", async () => {
      const { store } = bench.it;
      const other = (await bench.it.another()) ?? store;
      const claims = [store, other].map((each, nth) =>
        each.commit(sampleCommit({ opId: `claim ${nth}`, fence: `${each.processId}:${nth}` })),
      );
      const types = (await Promise.all(claims)).map(({ type }) => type);
      expect(types.toSorted()).toEqual(["committed", "fenced"]);
      expect(await other.load("t1", BUDGET_CHARS)).toEqual(await store.load("t1", BUDGET_CHARS));
    });

    it("P40: a change of who answers is read back in order, the latest hundred up to an epoch, and goes with its thread", async () => {
      const { store } = bench.it;
      const change = (epoch: number) => ({ epoch, how: "taken" as const, atMs: epoch, by: "ann 👋" });
      expect(await store.answererChanges("t1", 3)).toEqual([]);
      for (let epoch = 1; epoch <= 102; epoch += 1) {
        const at = { opId: `o${epoch}`, rev: epoch - 1, readOp: epoch === 1 ? null : `o${epoch - 1}` };
        const fence = `${store.processId}:a`;
        const said = { claims: epoch === 1, fence, messages: [], ...at };
        expect(await store.commit(sampleCommit({ ...said, answerer: change(epoch) }))).toMatchObject({
          type: "committed",
        });
      }
      const reopened = await bench.it.reopen();
      expect(await reopened.answererChanges("t1", 2)).toEqual([change(1), change(2)]);
      expect((await reopened.answererChanges("t1", 102)).map(({ epoch }) => epoch)).toEqual(
        Array.from({ length: 100 }, (_, at) => at + 3),
      );
      // What an epoch has not come to is not there.
      expect(await reopened.answererChanges("t1", 999)).toHaveLength(0);
      await reopened.eraseThread("t1", 9);
      expect(await reopened.answererChanges("t1", 2)).toEqual([]);
    });

    it("P6: a commit whose fence does not hold the thread changes nothing; who let go has to claim again", async () => {
      const { store } = bench.it;
      await claimed(store);
      const before = await store.load("t1", BUDGET_CHARS);
      const stale = { fence: `${store.processId}:stale`, messages: [sampleMessage(3)] };
      expect(await commits(store, "x", stale)).toEqual({ type: "fenced" });
      expect(await commits(store, "y", { ...stale, claims: true, readOp: "claim" })).toEqual({
        type: "fenced",
      });
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
      await commits(store, "end", { holds: false });
      expect(await commits(store, "z", { rev: 2 })).toEqual({ type: "fenced" });
      expect(await commits(store, "again", { rev: 2, claims: true, readOp: "end" })).toEqual(committed(3));
    });

    it("P6: what was decided on another revision, or on another operation than the last one, is `changed`", async () => {
      const { store } = bench.it;
      await claimed(store);
      expect(await commits(store, "x", { rev: 0 })).toEqual({ type: "changed" });
      await commits(store, "end", { holds: false });
      const before = await store.load("t1", BUDGET_CHARS);
      for (const rev of [0, 1, 3]) {
        const late = commits(store, `late ${rev}`, { ...another(store), rev, readOp: "end" });
        expect(await late).toEqual({ type: "changed" });
      }
      // As after a failover: the revision is the same again, and what was done is not.
      for (const readOp of [null, "claim", "undone"]) {
        const late = commits(store, `on ${readOp}`, { ...another(store), rev: 2, readOp });
        expect(await late).toEqual({ type: "changed" });
      }
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
    });

    it("P9: takesFrom takes the thread and its queue from a lost fence, and only from that one", async () => {
      const { store } = bench.it;
      const lost = await claimed(store);
      await store.wait("t1", sampleWaiting("w1"), 8);
      const takes = { ...another(store), readOp: "claim" };
      expect(await commits(store, "x", { ...takes, takesFrom: "other:b" })).toEqual({ type: "fenced" });
      expect(await commits(store, "y", { ...takes, takesFrom: lost })).toEqual(
        committed(2, sampleWaiting("w1")),
      );
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ fence: takes.fence });
      // The lost one wakes up.
      expect(await commits(store, "z")).toEqual({ type: "fenced" });
    });

    it("P1: a repeat answers what the first one did, changes nothing, and knows no later message of the queue", async () => {
      const { store, reopen } = bench.it;
      const fence = await claimed(store);
      await store.wait("t1", sampleWaiting("w1"), 8);
      const ends = sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false });
      expect(await store.commit(ends)).toEqual(committed(2, sampleWaiting("w1")));
      await store.wait("t1", sampleWaiting("w2"), 8);
      const before = await store.load("t1", BUDGET_CHARS);
      expect(await Promise.all([store.commit(ends), store.commit(ends)])).toEqual(
        Array(2).fill(committed(2, sampleWaiting("w1"))),
      );
      const again = await reopen();
      expect(await again.commit(ends)).toEqual(committed(2, sampleWaiting("w1")));
      expect(await again.load("t1", BUDGET_CHARS)).toEqual(before);
    });

    it("another commit of the last one's name is answered as that one, and changes nothing", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const before = await store.load("t1", BUDGET_CHARS);
      const other = { snapshot: "another", messages: [sampleMessage(3)], endedRun: sampleRun("r0") };
      expect(await store.commit(sampleCommit({ opId: "claim", fence, ...other }))).toEqual(committed(1));
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
      expect(await store.runs("t1", 9)).toHaveLength(1);
    });
  });

  describe("the queue of a held thread", () => {
    const claimOrWait = (store: Store, runId: string, max = 8) =>
      commits(store, `say ${runId}`, {
        ...another(store),
        run: sampleRun(runId),
        messages: [sampleMessage(3)],
        orWait: { message: sampleWaiting(runId), max },
      });

    it("P1: a claim with orWait waits in it, once, until it is full", async () => {
      const { store, reopen } = bench.it;
      const fence = await claimed(store);
      const before = await store.load("t1", BUDGET_CHARS);
      for (let time = 0; time < 2; time++) {
        expect(await claimOrWait(store, "w1", 1)).toEqual({ type: "waiting", fence });
        expect(await store.wait("t1", sampleWaiting("w1"), 1)).toEqual({ type: "waiting", fence });
      }
      expect(await claimOrWait(store, "w2", 1)).toEqual({ type: "full", fence });
      expect(await store.wait("t1", sampleWaiting("w2"), 1)).toEqual({ type: "full" });
      expect(await (await reopen()).load("t1", BUDGET_CHARS)).toEqual({ ...before, waitingCount: 1 });
    });

    it("a release hands over its head with the catalog, and the fence goes on holding, until nothing waits", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      for (const runId of ["w1", "w2"]) await store.wait("t1", sampleWaiting(runId), 8);
      expect(await store.waitingRuns("t1")).toEqual(["w1", "w2"]);
      const release = { holds: false, messages: [] };
      expect(await commits(store, "b", release)).toEqual(committed(2, sampleWaiting("w1")));
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ fence, waitingCount: 2 });
      const starts = (runId: string) => ({ ...release, run: sampleRun(runId), startsWaiting: runId });
      expect(await commits(store, "x", { ...starts("w2"), rev: 2 })).toEqual({ type: "changed" });
      await store.setCatalog("t1", SLUG, [{ name: "cart" }]);
      const begun = { ...committed(3, sampleWaiting("w2")), catalog: [{ name: "cart" }] };
      for (let time = 0; time < 2; time++) {
        expect(await commits(store, "c", { ...starts("w1"), rev: 2 })).toEqual(begun);
      }
      // Started is not waiting: it does not wait again.
      expect(await store.wait("t1", sampleWaiting("w1"), 8)).toEqual({ type: "waiting", fence });
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ fence, waitingCount: 1 });
      await store.setCatalog("t1", SLUG, []);
      const last = { ...committed(4), catalog: [] };
      expect(await commits(store, "d", { ...starts("w2"), rev: 3 })).toEqual(last);
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ fence: null, waitingCount: 0 });
      expect(await store.wait("t1", sampleWaiting("w3"), 8)).toEqual({ type: "free" });
    });
  });
}
