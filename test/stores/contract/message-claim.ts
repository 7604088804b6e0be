import { describe, expect, it } from "vitest";
import type { Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { sampleCommit, sampleMessage, sampleRun, sampleWaiting } from "../samples.ts";

const NAME = "m-1 Ü";

const asked = (runId: string, text = "Hello") => ({ ...sampleWaiting(runId), text, clientMessageId: NAME });

/** Takes a thread with a message that has an id. */
function claims(store: Store, runId: string, changes: { text?: string; rev?: number; uid?: string } = {}) {
  const { text, rev = 0, uid = "t1" } = changes;
  return store.commit(
    sampleCommit({
      uid,
      opId: `claim ${runId}`,
      fence: `${store.processId}:${runId}`,
      rev,
      run: sampleRun(runId),
      messages: [sampleMessage(1, { runId, clientMessageId: NAME })],
      orWait: { message: asked(runId, text), max: 8 },
    }),
  );
}

/** P31: a message that has an id is said once. */
export function messageClaimPromises(bench: Bench): void {
  describe("a clientMessageId", () => {
    it("is claimed by the commit that stores its message: a repeat changes nothing, and of another text is known as such", async () => {
      const { store } = bench.it;
      expect(await claims(store, "r1")).toMatchObject({ type: "committed", rev: 1 });
      expect(await store.history("t1", { limit: 1, before: null })).toMatchObject([
        { clientMessageId: NAME },
      ]);
      const repeat = { type: "said-before", runId: "r1", isSameText: true };
      expect(await claims(store, "r2", { rev: 1 })).toEqual(repeat);
      expect(await store.wait("t1", asked("r3"), 8)).toEqual(repeat);
      const other = { ...repeat, isSameText: false };
      expect(await claims(store, "r2", { rev: 1, text: "Good bye" })).toEqual(other);
      expect(await store.wait("t1", asked("r3", "Good bye"), 8)).toEqual(other);
      expect(await store.load("t1", 1_000)).toMatchObject({ rev: 1, waitingCount: 0, messageCount: 1 });
      // It belongs to its thread alone.
      expect(await claims(store, "r4", { uid: "t2" })).toMatchObject({ type: "committed" });
    });

    it("is claimed by the commit that stores its message, and known again after another commit, with an id and without", async () => {
      const { store } = bench.it;
      const first = sampleCommit({
        opId: "a",
        fence: `${store.processId}:a`,
        run: { ...sampleRun("r1"), outcome: "done" },
        state: "idle",
        holds: false,
        messages: [sampleMessage(1, { runId: "r1" })],
        orWait: { message: sampleWaiting("r1"), max: 8 },
      });
      expect(await store.commit(first)).toMatchObject({ type: "committed", rev: 1 });
      const second = {
        ...first,
        opId: "b",
        rev: 1,
        readOp: "a",
        run: { ...sampleRun("r2"), outcome: "done" },
      } as const;
      const messages = [sampleMessage(2, { runId: "r2" })];
      const orWait = { message: sampleWaiting("r2"), max: 8 };
      expect(await store.commit({ ...second, messages, orWait })).toMatchObject({
        type: "committed",
        rev: 2,
      });
      // The answer to the first one was lost, and it is sent again.
      const itself = { type: "said-before", runId: "r1", isSameText: true };
      expect(await store.commit(first)).toEqual(itself);
      expect(await store.wait("t1", sampleWaiting("r1"), 8)).toEqual(itself);
      expect(await store.load("t1", 1_000)).toMatchObject({ rev: 2, messageCount: 2, waitingCount: 0 });
    });

    it("is claimed by a message that waits, and not by a refused one", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      await store.commit(sampleCommit({ opId: "a", fence }));
      expect(await store.wait("t1", asked("r3"), 0)).toEqual({ type: "full" });
      expect(await store.wait("t1", asked("r2"), 1)).toEqual({ type: "waiting", fence });
      const repeat = { type: "said-before", runId: "r2", isSameText: true };
      expect(await store.wait("t1", asked("r3"), 1)).toEqual(repeat);
      expect(await store.load("t1", 1_000)).toMatchObject({ waitingCount: 1 });
    });
  });
}
