import { describe, expect, it } from "vitest";
import { NO_DESK } from "../../../src/domain/threads/desk.ts";
import type { Desk, Note } from "../../../src/domain/threads/desk.ts";
import type { Bench } from "./contract.ts";
import { sampleCommit, SLUG } from "../samples.ts";

const noted = (number: number): Note => ({
  id: String(number),
  by: "ann",
  text: `Note ${number} 👋`,
  atMs: 5,
});
const first: Desk = { rev: 1, labels: ["refund"], snoozed: { untilMs: 9, sinceMs: 5 }, notes: 0 };

export function deskPromises(bench: Bench): void {
  const fence = () => `${bench.it.store.processId}:a`;
  const keep = async (desk: Desk, note?: Note, uid = "t1") => {
    const kept = await bench.it.store.keepDesk({ uid, slug: SLUG, desk, ...(note ? { note } : {}), atMs: 5 });
    return kept.type === "kept";
  };

  describe("what operators keep of a thread", () => {
    it("is read by another process; a commit leaves it alone", async () => {
      const { store } = bench.it;
      await store.commit(sampleCommit({ opId: "a", fence: fence() }));
      expect([await store.desk("t1"), await store.notes("t1")]).toEqual([NO_DESK, []]);
      expect(await keep(first)).toBe(true);
      await store.commit(sampleCommit({ opId: "b", rev: 1, claims: false, fence: fence() }));
      const reopened = await bench.it.reopen();
      expect(await reopened.desk("t1")).toEqual(first);
      expect(await reopened.load("t1", 1_000)).toMatchObject({ rev: 2 });
    });

    it("follows what it was made of, and no other; notes come one by one", async () => {
      const { store } = bench.it;
      await store.commit(sampleCommit({ opId: "a", fence: fence() }));
      expect(await keep({ ...first, rev: 2 })).toBe(false);
      const second = { ...first, rev: 2, notes: 1 };
      const third = { ...second, rev: 3, notes: 2 };
      expect(await keep(first)).toBe(true);
      expect(await keep(second, noted(1))).toBe(true);
      expect(await keep(second, noted(1))).toBe(false);
      const both = [keep(third, noted(2)), keep(third, noted(2))];
      expect((await Promise.all(both)).filter(Boolean)).toEqual([true]);
      expect(await store.desk("t1")).toEqual(third);
      expect(await store.notes("t1")).toEqual([noted(1), noted(2)]);
    });

    it("is a change of the thread for who looks for changes", async () => {
      const { store } = bench.it;
      await store.commit(sampleCommit({ opId: "a", fence: fence(), atMs: 1 }));
      const changes = () => store.changedThreads(SLUG, { sinceMs: 5, limit: 9 });
      expect(await keep(first)).toBe(true);
      await expect.poll(changes).toEqual([{ uid: "t1", atMs: 5 }]);
    });

    it("goes with its thread, and comes to none that is deleted, of another channel, or was never there", async () => {
      const { store } = bench.it;
      await store.commit(sampleCommit({ opId: "a", fence: fence() }));
      const elsewhere = { uid: "t1", slug: "other", desk: first, atMs: 5 };
      expect(await store.keepDesk(elsewhere)).toEqual({ type: "not-found" });
      expect(await keep({ ...first, notes: 1 }, noted(1))).toBe(true);
      await store.eraseThread("t1", 9);
      expect([await store.desk("t1"), await store.notes("t1")]).toEqual([NO_DESK, []]);
      expect(await keep(first)).toBe(false);
      expect(await keep(first, undefined, "t2")).toBe(false);
      expect(await store.load("t2", 1_000)).toBeNull();
    });
  });
}
