import { describe, expect, it } from "vitest";
import type { CommitResult, Store } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { SLUG, BUDGET_CHARS, sampleCommit, sampleMessage, sampleRun, sampleWaiting } from "./samples.ts";

const committed = (rev: number, next: Extract<CommitResult, { type: "committed" }>["next"] = null) => ({
  type: "committed",
  rev,
  next,
});

/** The thread t1, claimed by the fence that is returned. */
async function claimed(store: Store): Promise<string> {
  const fence = `${store.processId}:a`;
  const result = await store.commit(
    sampleCommit({ opId: "claim", fence, messages: [sampleMessage(1), sampleMessage(2)] }),
  );
  expect(result).toEqual(committed(1));
  return fence;
}

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

    it("a later commit replaces snapshot, state and run, and appends to the history", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const run = sampleRun("r1", { outcome: "done", terminal: { type: "done", elapsedMs: 4 } });
      const reply = sampleMessage(3, { role: "assistant", steps: [{ id: "s", phase: "done", text: "✓" }] });
      const ends = { opId: "end", fence, claims: false, rev: 1, state: "idle" as const, holds: false };
      expect(await store.commit(sampleCommit({ ...ends, run, messages: [reply] }))).toEqual(committed(2));
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({
        rev: 2,
        fence: null,
        state: "idle",
        snapshot: "snapshot of end",
        run,
        tail: [sampleMessage(1), sampleMessage(2), reply],
        messageCount: 3,
      });
    });

    it("threads do not touch each other", async () => {
      const { store } = bench.it;
      await claimed(store);
      const fence = `${store.processId}:b`;
      const other = sampleCommit({ uid: "t2", opId: "claim", fence, messages: [sampleMessage(1)] });
      expect(await store.commit(other)).toEqual(committed(1));
      expect((await store.load("t1", BUDGET_CHARS))?.messageCount).toBe(2);
      expect((await store.load("t2", BUDGET_CHARS))?.messageCount).toBe(1);
    });

    it("P5: of many claims at once one is committed", async () => {
      const { store } = bench.it;
      const claims = ["a", "b", "c", "d"].map((name) =>
        store.commit(sampleCommit({ opId: name, fence: `${store.processId}:${name}` })),
      );
      const types = (await Promise.all(claims)).map((result) => result.type);
      expect(types.toSorted()).toEqual(["committed", "fenced", "fenced", "fenced"]);
    });

    it("P5: of the claims of two processes one is committed", async (context) => {
      const { store, another } = bench.it;
      const other = await another();
      if (other === null) return context.skip();
      const results = await Promise.all(
        [store, other].map((each) =>
          each.commit(sampleCommit({ opId: each.processId, fence: `${each.processId}:a` })),
        ),
      );
      expect(results.map((result) => result.type).toSorted()).toEqual(["committed", "fenced"]);
      expect(await other.load("t1", BUDGET_CHARS)).toEqual(await store.load("t1", BUDGET_CHARS));
    });

    it("P6: a commit whose fence does not hold the thread changes nothing", async () => {
      const { store } = bench.it;
      await claimed(store);
      const before = await store.load("t1", BUDGET_CHARS);
      const stale = { fence: `${store.processId}:stale`, messages: [sampleMessage(3)], rev: 1 };
      expect(await store.commit(sampleCommit({ opId: "x", ...stale, claims: false }))).toEqual({
        type: "fenced",
      });
      expect(await store.commit(sampleCommit({ opId: "y", ...stale, claims: true }))).toEqual({
        type: "fenced",
      });
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
    });

    it("P6: who let go cannot continue; it has to claim again", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.commit(sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false }));
      expect(await store.commit(sampleCommit({ opId: "x", fence, claims: false, rev: 2 }))).toEqual({
        type: "fenced",
      });
      expect(
        await store.commit(sampleCommit({ opId: "y", fence, claims: true, rev: 2, readOp: "end" })),
      ).toEqual(committed(3));
    });

    it("a claim on another revision is `changed`, and so is a continuation", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const before = await store.load("t1", BUDGET_CHARS);
      expect(await store.commit(sampleCommit({ opId: "x", fence, claims: false, rev: 0 }))).toEqual({
        type: "changed",
      });
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
      await store.commit(sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false }));
      for (const rev of [0, 1, 3]) {
        const late = sampleCommit({ opId: `late ${rev}`, fence: `${store.processId}:b`, rev, readOp: "end" });
        expect(await store.commit(late)).toEqual({ type: "changed" });
      }
      expect(
        await store.commit(sampleCommit({ opId: "first", uid: "t2", fence: `${store.processId}:b`, rev: 1 })),
      ).toEqual({ type: "changed" });
      expect(await store.load("t2", BUDGET_CHARS)).toBeNull();
    });

    it("P6: a claim that was decided on another operation than the last one is `changed`", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.commit(sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false }));
      const before = await store.load("t1", BUDGET_CHARS);
      // As after a failover: the revision is the same again, and what was done is not.
      const claims = { fence: `${store.processId}:b`, rev: 2 };
      for (const readOp of [null, "claim", "undone"]) {
        const late = sampleCommit({ opId: `on ${readOp}`, ...claims, readOp });
        expect(await store.commit(late)).toEqual({ type: "changed" });
        expect(await store.commit({ ...late, takesFrom: fence })).toEqual({ type: "changed" });
      }
      const first = { uid: "t2", opId: "first", fence: `${store.processId}:b` };
      expect(await store.commit(sampleCommit({ ...first, readOp: "undone" }))).toEqual({ type: "changed" });
      expect(await store.load("t2", BUDGET_CHARS)).toBeNull();
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
      expect(await store.commit(sampleCommit({ opId: "claims", ...claims, readOp: "end" }))).toEqual(
        committed(3),
      );
    });

    it("whoever holds the thread continues without naming the last operation", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const continues = { opId: "b", fence, claims: false, rev: 1, readOp: null };
      expect(await store.commit(sampleCommit(continues))).toEqual(committed(2));
    });

    it("the holder may claim what it holds", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      expect(await store.commit(sampleCommit({ opId: "again", fence, rev: 1, readOp: "claim" }))).toEqual(
        committed(2),
      );
    });

    it("P9: takesFrom takes the thread from a lost fence, and only from that one", async () => {
      const { store } = bench.it;
      const lost = await claimed(store);
      const takes = { fence: `${store.processId}:b`, rev: 1, readOp: "claim" };
      expect(await store.commit(sampleCommit({ opId: "x", ...takes, takesFrom: "other:b" }))).toEqual({
        type: "fenced",
      });
      expect(await store.commit(sampleCommit({ opId: "y", ...takes, takesFrom: lost }))).toEqual(
        committed(2),
      );
      expect((await store.load("t1", BUDGET_CHARS))?.fence).toBe(takes.fence);
      // The lost one wakes up.
      expect(await store.commit(sampleCommit({ opId: "z", fence: lost, claims: false, rev: 1 }))).toEqual({
        type: "fenced",
      });
    });

    it("takesFrom a fence that let go meanwhile is a plain claim", async () => {
      const { store } = bench.it;
      const lost = await claimed(store);
      await store.commit(sampleCommit({ opId: "end", fence: lost, claims: false, rev: 1, holds: false }));
      const takes = sampleCommit({
        opId: "x",
        fence: `${store.processId}:b`,
        takesFrom: lost,
        rev: 2,
        readOp: "end",
      });
      expect(await store.commit(takes)).toEqual(committed(3));
    });

    it("a run that the commit ends is kept in the list of runs", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const endedRun = sampleRun("r1", { outcome: "superseded" });
      await store.commit(
        sampleCommit({ opId: "b", fence, claims: false, rev: 1, endedRun, run: sampleRun("r2") }),
      );
      const runs = await store.runs("t1", 10);
      expect(runs.map((run) => [run.runId, run.outcome])).toEqual([
        ["r1", "superseded"],
        ["r2", null],
      ]);
      expect((await store.load("t1", BUDGET_CHARS))?.run).toEqual(sampleRun("r2"));
    });
  });

  describe("commit, repeated with its opId", () => {
    it("P1: answers what the first one answered, and changes nothing", async () => {
      const { store, reopen } = bench.it;
      const fence = `${store.processId}:a`;
      const claim = sampleCommit({ opId: "claim", fence, messages: [sampleMessage(1)] });
      const first = await store.commit(claim);
      const before = await store.load("t1", BUDGET_CHARS);
      expect(await store.commit(claim)).toEqual(first);
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
      const again = await reopen();
      expect(await again.commit(claim)).toEqual(first);
      expect(await again.load("t1", BUDGET_CHARS)).toEqual(before);
    });

    it("P1: answers the same `next`, also when the queue has grown meanwhile", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.wait("t1", sampleWaiting("w1"), 8);
      const ends = sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false });
      expect(await store.commit(ends)).toEqual(committed(2, sampleWaiting("w1")));
      await store.wait("t1", sampleWaiting("w2"), 8);
      expect(await store.commit(ends)).toEqual(committed(2, sampleWaiting("w1")));
    });

    it("P1: a repeat after the release is still the first answer", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const ends = sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false });
      expect(await store.commit(ends)).toEqual(committed(2));
      expect(await store.commit(ends)).toEqual(committed(2));
      expect((await store.load("t1", BUDGET_CHARS))?.rev).toBe(2);
    });

    it("P1: two at once are one", async () => {
      const { store } = bench.it;
      const claim = sampleCommit({
        opId: "claim",
        fence: `${store.processId}:a`,
        messages: [sampleMessage(1)],
      });
      expect(await Promise.all([store.commit(claim), store.commit(claim)])).toEqual([
        committed(1),
        committed(1),
      ]);
      expect((await store.load("t1", BUDGET_CHARS))?.messageCount).toBe(1);
    });
  });

  describe("the queue of a held thread", () => {
    const claimOrWait = (store: Store, runId: string, max = 8) =>
      sampleCommit({
        opId: `say ${runId}`,
        fence: `${store.processId}:b`,
        rev: 1,
        run: sampleRun(runId),
        messages: [sampleMessage(3)],
        orWait: { message: sampleWaiting(runId), max },
      });

    it("a claim with orWait of a held thread waits in its queue, and changes nothing else", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const before = await store.load("t1", BUDGET_CHARS);
      expect(await store.commit(claimOrWait(store, "w1"))).toEqual({ type: "waiting", fence });
      expect(await store.load("t1", BUDGET_CHARS)).toEqual({ ...before, waitingCount: 1 });
    });

    it("a claim with orWait of a free thread is a claim", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.commit(sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false }));
      expect(await store.commit({ ...claimOrWait(store, "w1"), rev: 2, readOp: "end" })).toEqual(
        committed(3),
      );
      expect((await store.load("t1", BUDGET_CHARS))?.waitingCount).toBe(0);
    });

    it("THREAD_QUEUE_MAX messages wait, and one more is `full`", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.commit(claimOrWait(store, "w1", 2));
      expect(await store.wait("t1", sampleWaiting("w2"), 2)).toEqual({ type: "waiting", fence });
      expect(await store.commit(claimOrWait(store, "w3", 2))).toEqual({ type: "full", fence });
      expect(await store.wait("t1", sampleWaiting("w3"), 2)).toEqual({ type: "full" });
      expect((await store.load("t1", BUDGET_CHARS))?.waitingCount).toBe(2);
      expect(await store.commit({ ...claimOrWait(store, "w4", 0), uid: "t1" })).toEqual({
        type: "full",
        fence,
      });
    });

    it("waitingRuns() are the runs of the messages that wait, in order of arrival", async () => {
      const { store } = bench.it;
      expect(await store.waitingRuns("t1")).toEqual([]);
      const fence = await claimed(store);
      await store.wait("t1", sampleWaiting("w2"), 8);
      await store.wait("t1", sampleWaiting("w1"), 8);
      expect(await store.waitingRuns("t1")).toEqual(["w2", "w1"]);
      const begins = { opId: "b", fence, claims: false, rev: 1, run: sampleRun("w2"), startsWaiting: "w2" };
      await store.commit(sampleCommit(begins));
      expect(await store.waitingRuns("t1")).toEqual(["w1"]);
    });

    it("P1: a message that waits already waits once, also in a full queue and after a reopen", async () => {
      const { store, reopen } = bench.it;
      const fence = await claimed(store);
      for (let time = 0; time < 2; time++) {
        expect(await store.commit(claimOrWait(store, "w1", 1))).toEqual({ type: "waiting", fence });
        expect(await store.wait("t1", sampleWaiting("w1"), 1)).toEqual({ type: "waiting", fence });
      }
      expect((await store.load("t1", BUDGET_CHARS))?.waitingCount).toBe(1);
      const again = await reopen();
      expect(await again.commit(claimOrWait(store, "w1", 1))).toEqual({ type: "waiting", fence });
      expect((await again.load("t1", BUDGET_CHARS))?.waitingCount).toBe(1);
    });

    it("P1: a waiting message that was started meanwhile does not wait again", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.wait("t1", sampleWaiting("w1"), 8);
      const continues = { fence, claims: false };
      await store.commit(
        sampleCommit({ opId: "b", ...continues, rev: 1, run: sampleRun("w1"), startsWaiting: "w1" }),
      );
      expect(await store.wait("t1", sampleWaiting("w1"), 8)).toEqual({ type: "waiting", fence });
      expect(await store.commit(claimOrWait(store, "w1"))).toEqual({ type: "waiting", fence });
      // Also when another run has followed it.
      await store.wait("t1", sampleWaiting("w2"), 8);
      await store.commit(
        sampleCommit({ opId: "c", ...continues, rev: 2, run: sampleRun("w2"), startsWaiting: "w2" }),
      );
      expect(await store.wait("t1", sampleWaiting("w1"), 8)).toEqual({ type: "waiting", fence });
      expect(await store.commit(claimOrWait(store, "w1"))).toEqual({ type: "waiting", fence });
      expect((await store.load("t1", BUDGET_CHARS))?.waitingCount).toBe(0);
    });

    it("a release hands over the head of the queue, and the fence goes on holding", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.wait("t1", sampleWaiting("w1"), 8);
      await store.wait("t1", sampleWaiting("w2"), 8);
      const continues = { fence, claims: false, holds: false };
      expect(await store.commit(sampleCommit({ opId: "b", ...continues, rev: 1 }))).toEqual(
        committed(2, sampleWaiting("w1")),
      );
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ fence, waitingCount: 2 });
      const starts = { run: sampleRun("w1"), startsWaiting: "w1" };
      await store.setCatalog("t1", SLUG, [{ name: "cart" }]);
      const begun = { ...committed(3, sampleWaiting("w2")), catalog: [{ name: "cart" }] };
      const begins = sampleCommit({ opId: "c", ...continues, ...starts, rev: 2 });
      expect(await store.commit(begins)).toEqual(begun);
      expect(await store.commit(begins)).toEqual(begun);
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ fence, waitingCount: 1 });
      const last = { run: sampleRun("w2"), startsWaiting: "w2" };
      await store.setCatalog("t1", SLUG, []);
      expect(await store.commit(sampleCommit({ opId: "d", ...continues, ...last, rev: 3 }))).toEqual({
        ...committed(4),
        catalog: [],
      });
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ fence: null, waitingCount: 0 });
    });

    it("a commit that holds on tells the head of the queue too", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      await store.wait("t1", sampleWaiting("w1"), 8);
      expect(await store.commit(sampleCommit({ opId: "b", fence, claims: false, rev: 1 }))).toEqual(
        committed(2, sampleWaiting("w1")),
      );
    });

    it("startsWaiting another message than the head is `changed`, and nothing is applied", async () => {
      const { store } = bench.it;
      const fence = await claimed(store);
      const starts = { fence, claims: false, rev: 1, startsWaiting: "w2", messages: [sampleMessage(3)] };
      expect(await store.commit(sampleCommit({ opId: "b", ...starts }))).toEqual({ type: "changed" });
      await store.wait("t1", sampleWaiting("w1"), 8);
      await store.wait("t1", sampleWaiting("w2"), 8);
      const before = await store.load("t1", BUDGET_CHARS);
      expect(await store.commit(sampleCommit({ opId: "c", ...starts }))).toEqual({ type: "changed" });
      expect(await store.load("t1", BUDGET_CHARS)).toEqual(before);
    });

    it("wait() is `free` where nobody holds the thread, or nobody ever did", async () => {
      const { store } = bench.it;
      expect(await store.wait("t1", sampleWaiting("w1"), 8)).toEqual({ type: "free" });
      const fence = await claimed(store);
      await store.commit(sampleCommit({ opId: "end", fence, claims: false, rev: 1, holds: false }));
      expect(await store.wait("t1", sampleWaiting("w1"), 8)).toEqual({ type: "free" });
      expect((await store.load("t1", BUDGET_CHARS))?.waitingCount).toBe(0);
    });

    it("whoever takes a lost thread takes its queue", async () => {
      const { store } = bench.it;
      const lost = await claimed(store);
      await store.wait("t1", sampleWaiting("w1"), 8);
      const takes = { fence: `${store.processId}:b`, takesFrom: lost, rev: 1, readOp: "claim" };
      expect(await store.commit(sampleCommit({ opId: "b", ...takes }))).toEqual(
        committed(2, sampleWaiting("w1")),
      );
    });
  });
}
