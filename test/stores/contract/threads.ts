import { describe, expect, it } from "vitest";
import type { Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { BUDGET_CHARS, SLUG, sampleCommit, sampleMessage, sampleRun } from "../samples.ts";

const tool = { name: "add_to_cart", inputSchema: { type: "object" as const, properties: { sku: {} } } };

async function withMessages(store: Store, count: number, content = "0123456789"): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => sampleMessage(index + 1, { content }));
  const rests = { holds: false, state: "idle" } as const;
  await store.commit(sampleCommit({ opId: "all", fence: `${store.processId}:a`, messages, ...rests }));
}

export function threadPromises(bench: Bench): void {
  describe("threads", () => {
    it.each([
      ["0123456789", [1_000, 50, 49, 20, 10, 0], [5, 5, 4, 2, 1, 1]],
      ["👋👋é", [10, 9], [2, 1]],
    ])(
      "the tail is the newest messages whose contents fit the budget of UTF-16 units, and at least one: %s",
      async (content, budgets, expected) => {
        const { store } = bench.it;
        await withMessages(store, 5, content);
        const lengths = budgets.map(async (budget) => (await store.load("t1", budget))?.tail.length);
        expect(await Promise.all(lengths)).toEqual(expected);
      },
    );

    it("history() pages backwards, oldest first; before an id that no message has it is empty", async () => {
      const { store } = bench.it;
      await withMessages(store, 12);
      const page = async (limit: number, before: string | null) =>
        (await store.history("t1", { limit, before })).map(({ id }) => Number(id));
      expect(await page(10, null)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(await page(10, "3")).toEqual([1, 2]);
      expect(await page(2, "12")).toEqual([10, 11]);
      expect(await page(10, "1")).toEqual([]);
      for (const none of ["0", "13", "-1", "03", "3.0", "1e1", "", "x", "99999999999999999999"]) {
        expect([none, ...(await page(10, none))]).toEqual([none]);
      }
    });

    it("a claim that names its catalog is `changed` if the thread has another one by now", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      const reads = { fence, rev: 0, readOp: null, readCatalogId: null };
      await store.setCatalog("t1", SLUG, [tool]);
      expect(await store.commit(sampleCommit({ opId: "a", ...reads }))).toEqual({ type: "changed" });
      const readCatalogId = (await store.load("t1", BUDGET_CHARS))?.catalogId ?? null;
      const newest = sampleCommit({ opId: "b", ...reads, readCatalogId, state: "idle", holds: false });
      expect(await store.commit(newest)).toMatchObject({ type: "committed" });
      await store.setCatalog("t1", SLUG, []);
      const older = { fence, rev: 1, readOp: "b", readCatalogId };
      expect(await store.commit(sampleCommit({ opId: "c", ...older }))).toEqual({ type: "changed" });
    });

    it("a commit names who watches, from before the first commit on, and after others", async () => {
      const { store } = bench.it;
      const watchers = [store.processId];
      const ends = { fence: `${store.processId}:a`, state: "idle" as const, holds: false };
      await store.watch("t1");
      const first = sampleCommit({ opId: "a", rev: 0, ...ends });
      expect(await store.commit(first)).toMatchObject({ type: "committed", watchers });
      expect(await store.watchers("t1")).toEqual(watchers);
      const unwatched = sampleCommit({ uid: "t2", opId: "a", rev: 0, ...ends });
      expect(await store.commit(unwatched)).not.toHaveProperty("watchers");
      await store.watch("t2");
      for (const uid of ["t1", "t2"]) {
        const next = sampleCommit({ uid, opId: "b", rev: 1, readOp: "a", ...ends });
        expect(await store.commit(next)).toMatchObject({ type: "committed", watchers });
      }
    });

    it("a catalog may come before the first message; a commit leaves it alone, and an empty one clears it", async () => {
      const { store } = bench.it;
      await store.setCatalog("t1", SLUG, [tool]);
      expect(await store.load("t1", BUDGET_CHARS)).toEqual({
        uid: "t1",
        slug: SLUG,
        rev: 0,
        lastOp: null,
        fence: null,
        state: "idle",
        snapshot: null,
        catalog: [tool],
        catalogId: expect.any(String) as unknown,
        run: null,
        tail: [],
        messageCount: 0,
        waitingCount: 0,
      });
      await withMessages(store, 1);
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ rev: 1, catalog: [tool] });
      await store.setCatalog("t1", SLUG, []);
      expect(await store.load("t1", BUDGET_CHARS)).toMatchObject({ rev: 1, catalog: [] });
    });

    it("runs() lists the newest runs in short form, the active one among them, oldest first", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      for (let rev = 0; rev < 4; rev++) {
        const run = sampleRun(`r${rev}`, { saidAtMs: rev });
        const endedRun = rev === 0 ? null : sampleRun(`r${rev - 1}`, { outcome: "superseded" });
        await store.commit(sampleCommit({ opId: `${rev}`, fence, rev, claims: rev === 0, run, endedRun }));
      }
      expect((await store.runs("t1", 2)).map((run) => run.runId)).toEqual(["r2", "r3"]);
      const terminal = { type: "done" as const, elapsedMs: 9 };
      const ended = sampleRun("r3", { saidAtMs: 3, outcome: "done", terminal });
      await store.commit(sampleCommit({ opId: "end", fence, rev: 4, claims: false, run: ended }));
      expect(await store.runs("t1", 1)).toEqual([
        { runId: "r3", saidAtMs: 3, outcome: "done", path: ended.path, terminal },
      ]);
    });
  });
}
