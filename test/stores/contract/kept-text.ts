import { describe, expect, it } from "vitest";
import type { ProgressLine } from "../../../machines/line.ts";
import { textOf } from "../../../src/domain/threads/fold-steps.ts";
import { imagesName, withoutText } from "../../../src/domain/threads/kept-text.ts";
import type { KeptText } from "../../../src/domain/threads/kept-text.ts";
import type { Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { sampleCommit, sampleMessage, sampleRun } from "../samples.ts";

const step: ProgressLine = { type: "step", id: "find", phase: "running", text: "Finding" };
const delta = (text: string): ProgressLine => ({ type: "delta", text });
const fenceOf = (store: Store) => `${store.processId}:a`;

async function begin(store: Store): Promise<void> {
  await store.commit(sampleCommit({ opId: "begin", fence: fenceOf(store) }));
}

function keep(store: Store, nth: number, text: string, fence = fenceOf(store)): Promise<boolean> {
  return store.keepPart({ uid: "t1", fence, runId: "r1", nth, text });
}

/** The run ends with these lines, of whose text so much is in parts, and leaves a reply. */
async function end(store: Store, lines: ProgressLine[], kept: KeptText): Promise<void> {
  const rest = withoutText(lines, kept.chars);
  const commit = sampleCommit({
    opId: "end",
    fence: fenceOf(store),
    claims: false,
    rev: 1,
    holds: false,
    state: "idle",
    run: sampleRun("r1", { lines: rest, kept, outcome: "done" }),
    messages: [
      sampleMessage(1, { content: "Hello" }),
      sampleMessage(2, { role: "assistant", content: textOf(rest), kept }),
    ],
  });
  expect(await store.commit(commit)).toMatchObject({ type: "committed" });
}

const linesOf = async (store: Store) => (await store.load("t1", 1_000))?.run?.lines;
const contentsOf = async (store: Store) =>
  (await store.history("t1", { limit: 10, before: null })).map(({ content }) => content);

export function keptTextPromises(bench: Bench): void {
  describe("text that is kept in parts", () => {
    it("is in the run, the tail and the history as if it had been saved with them", async () => {
      const { store } = bench.it;
      await begin(store);
      expect(await keep(store, 0, "One 👋 ")).toBe(true);
      expect(await keep(store, 1, "two ")).toBe(true);
      const lines = [
        delta("One "),
        step,
        delta("👋 two thr"),
        { ...step, phase: "done" as const },
        delta("ee"),
      ];
      await end(store, lines, { parts: 2, chars: 11 });

      const reopened = await bench.it.reopen();
      expect(await linesOf(reopened)).toEqual(lines);
      expect(await contentsOf(reopened)).toEqual(["Hello", "One 👋 two three"]);
      expect((await reopened.load("t1", 1_000))?.tail.map(({ content }) => content)).toEqual([
        "Hello",
        "One 👋 two three",
      ]);
      const older = await reopened.history("t1", { limit: 1, before: "2" });
      expect(older.map(({ content }) => content)).toEqual(["Hello"]);
    });

    it("stays there for who reads within a budget, or asks for a run in parts, and is read from any part on", async () => {
      const { store } = bench.it;
      await begin(store);
      await keep(store, 0, "x".repeat(90));
      await keep(store, 1, "y".repeat(5));
      const kept = { parts: 2, chars: 95 };
      await end(store, [delta(`${"x".repeat(90)}${"y".repeat(5)}zz`)], kept);
      const idsWithin = async (budgetChars: number, before: string | null = null) =>
        (await store.history("t1", { limit: 9, before, budgetChars })).map(({ id }) => id);
      expect(await idsWithin(101)).toEqual(["2"]);
      expect(await idsWithin(102)).toEqual(["1", "2"]);
      expect(await idsWithin(1)).toEqual(["2"]);
      expect(await idsWithin(1, "2")).toEqual(["1"]);
      expect(await idsWithin(102, "1")).toEqual([]);
      expect(await idsWithin(102, "3")).toEqual([]);
      const [reply] = await store.history("t1", { limit: 1, before: null, budgetChars: 1_000 });
      expect(reply).toMatchObject({ content: "zz", kept });

      const inParts = await store.load("t1", 1_000, "last-in-parts");
      expect(inParts?.run).toMatchObject({ lines: [{ type: "delta", text: "zz", kept: 95 }], kept });
      expect(inParts?.tail).toMatchObject([{ content: "Hello" }, { content: "zz", kept }]);
      expect((await store.load("t1", 101))?.tail).toHaveLength(1);
      expect((await store.load("t1", 102))?.tail).toHaveLength(2);
      expect(await store.keptText("t1", "r1", 2, 1)).toBe("y".repeat(5));
      expect(await store.keptText("t1", "r1", 2, 2)).toBe("");
    });

    it("takes images that are damaged for lost ones", async () => {
      const { store } = bench.it;
      await begin(store);
      for (const text of ["[oops", '{"a":1}', "[7]"]) {
        const part = { uid: "t1", fence: fenceOf(store), runId: imagesName("r1"), nth: 0, text };
        expect(await store.keepPart(part)).toBe(true);
        expect(await store.keptImages("t1", "r1")).toEqual([]);
      }
    });

    it("P5: comes from nobody but who holds the thread; what is kept again replaces the first one", async () => {
      const { store } = bench.it;
      await begin(store);
      expect(await keep(store, 0, "first try")).toBe(true);
      expect(await keep(store, 0, "mine")).toBe(true);
      expect(await keep(store, 0, "late", `${store.processId}:b`)).toBe(false);
      await end(store, [delta("mine!")], { parts: 1, chars: 4 });
      expect(await keep(store, 0, "late")).toBe(false);
      expect(await contentsOf(store)).toEqual(["Hello", "mine!"]);
      expect(await store.keepPart({ uid: "t2", fence: fenceOf(store), runId: "r1", nth: 0, text: "" })).toBe(
        false,
      );
    });
  });
}
