import { describe, expect, it } from "vitest";
import type { HistorySummary } from "../../../src/domain/threads/history-summary.ts";
import type { Bench } from "./contract.ts";
import { sampleCommit, SLUG } from "../samples.ts";

const upTo = (number: number, text = `Up to ${number} 👋`): HistorySummary => ({
  text,
  upTo: number,
  atMs: 5,
  model: "openai/small",
  usage: { input: 100, output: 20 },
});

export function historySummaryPromises(bench: Bench): void {
  const fence = () => `${bench.it.store.processId}:a`;
  const keep = (number: number, after: number, uid = "t1") =>
    bench.it.store.keepHistorySummary({ uid, slug: SLUG, summary: upTo(number), after });

  describe("the summary of a history", () => {
    it("is read with its thread, by itself, and by another process; a commit leaves it alone", async () => {
      const { store } = bench.it;
      await store.commit(sampleCommit({ opId: "a", fence: fence() }));
      expect(await store.historySummary("t1")).toBeNull();
      expect(await store.load("t1", 1_000)).not.toHaveProperty("historySummary");
      expect(await keep(2, 0)).toBe(true);
      expect(await store.historySummary("t1")).toEqual(upTo(2));
      await store.commit(sampleCommit({ opId: "b", rev: 1, claims: false, fence: fence() }));
      const reopened = await bench.it.reopen();
      expect(await reopened.load("t1", 1_000)).toMatchObject({ rev: 2, historySummary: upTo(2) });
      expect(await reopened.historySummary("t1")).toEqual(upTo(2));
    });

    it("follows the one that it was made of, and no other", async () => {
      const { store } = bench.it;
      await store.commit(sampleCommit({ opId: "a", fence: fence() }));
      expect(await keep(4, 2)).toBe(false);
      expect(await keep(4, 0)).toBe(true);
      expect(await keep(6, 0)).toBe(false);
      expect(await store.historySummary("t1")).toEqual(upTo(4));
      expect(await keep(6, 4)).toBe(true);
      expect(await store.historySummary("t1")).toEqual(upTo(6));
    });

    it("goes with its thread, and comes to none that is deleted or was never there", async () => {
      const { store } = bench.it;
      await store.commit(sampleCommit({ opId: "a", fence: fence() }));
      expect(await keep(2, 0)).toBe(true);
      await store.eraseThread("t1", 9);
      expect(await store.historySummary("t1")).toBeNull();
      expect(await keep(4, 2)).toBe(false);
      expect(await keep(4, 0)).toBe(false);
      expect(await keep(4, 0, "t2")).toBe(false);
      expect(await store.historySummary("t1")).toBeNull();
      expect(await store.historySummary("t2")).toBeNull();
      expect(await store.load("t2", 1_000)).toBeNull();
    });
  });
}
