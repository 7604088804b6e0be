import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { sampleCommit, sampleMessage, sampleRun, sampleWaiting } from "./samples.ts";

const NAME = "m-1 Ü";

/** Takes a thread with a message that has an id. */
function claims(store: Store, runId: string, changes: { text?: string; rev?: number } = {}) {
  const message = { ...sampleWaiting(runId), text: changes.text ?? "Hello", clientMessageId: NAME };
  return store.commit(
    sampleCommit({
      opId: `claim ${runId}`,
      fence: `${store.processId}:${runId}`,
      rev: changes.rev ?? 0,
      run: sampleRun(runId),
      messages: [sampleMessage(1, { runId, clientMessageId: NAME })],
      orWait: { message, max: 8 },
    }),
  );
}

function waits(store: Store, runId: string, text: string, clientMessageId = NAME) {
  return store.wait("t1", { ...sampleWaiting(runId), text, clientMessageId }, 8);
}

/** P31: a message that has an id is said once. */
export function messageClaimPromises(bench: Bench): void {
  describe("a clientMessageId", () => {
    it("is claimed by the commit that stores its message: the history carries it, a repeat changes nothing", async () => {
      const { store } = bench.it;
      expect(await claims(store, "r1")).toMatchObject({ type: "committed", rev: 1 });
      expect(await store.history("t1", { limit: 1, before: null })).toMatchObject([
        { clientMessageId: NAME },
      ]);
      const repeat = { type: "said-before", runId: "r1", isSameText: true };
      expect(await claims(store, "r2", { rev: 1 })).toEqual(repeat);
      expect(await waits(store, "r3", "Hello")).toEqual(repeat);
      expect(await store.load("t1", 1_000)).toMatchObject({ rev: 1, waitingCount: 0, messageCount: 1 });
    });

    it("of another text is known as such", async () => {
      const { store } = bench.it;
      await claims(store, "r1");
      const other = { type: "said-before", runId: "r1", isSameText: false };
      expect(await claims(store, "r2", { rev: 1, text: "Good bye" })).toEqual(other);
      expect(await waits(store, "r3", "Good bye")).toEqual(other);
    });

    it("is claimed by a message that waits, also when the queue is full since", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      await store.commit(sampleCommit({ opId: "a", fence }));
      expect(await waits(store, "r2", "Later")).toEqual({ type: "waiting", fence });
      const full = { ...sampleWaiting("r3"), text: "Later", clientMessageId: NAME };
      expect(await store.wait("t1", full, 1)).toEqual({ type: "said-before", runId: "r2", isSameText: true });
      expect(await store.load("t1", 1_000)).toMatchObject({ waitingCount: 1 });
    });

    it("of a refused message is not claimed", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      await store.commit(sampleCommit({ opId: "a", fence }));
      await store.wait("t1", sampleWaiting("r2"), 1);
      const refused = { ...sampleWaiting("r3"), clientMessageId: NAME };
      expect(await store.wait("t1", refused, 1)).toMatchObject({ type: "full" });
      expect(await store.wait("t1", refused, 2)).toEqual({ type: "waiting", fence });
    });

    it("belongs to its thread alone", async () => {
      const { store } = bench.it;
      await claims(store, "r1");
      await store.commit(sampleCommit({ uid: "t2", opId: "b", fence: `${store.processId}:b` }));
      const message = { ...sampleWaiting("r9"), clientMessageId: NAME };
      expect(await store.wait("t2", message, 8)).toMatchObject({ type: "waiting" });
    });

    it("run() finds a run by its id, active or over", async () => {
      const { store } = bench.it;
      expect(await store.run("t1", "r1")).toBeNull();
      await claims(store, "r1");
      expect(await store.run("t1", "r1")).toMatchObject({ runId: "r1", outcome: null });
      expect(await store.run("t1", "r2")).toBeNull();
    });
  });
}
