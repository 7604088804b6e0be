import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store.ts";
import type { Bench } from "./contract.ts";
import { BUDGET_CHARS, sampleCommit, sampleMessage, sampleRun } from "./samples.ts";

const tool = { name: "add_to_cart", inputSchema: { type: "object" as const, properties: { sku: {} } } };

async function withMessages(store: Store, count: number, content = "0123456789"): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => sampleMessage(index + 1, { content }));
  await store.commit(
    sampleCommit({ opId: "all", fence: `${store.processId}:a`, messages, holds: false, state: "idle" }),
  );
}

export function threadPromises(bench: Bench): void {
  describe("threads", () => {
    const tailIds = async (budget: number) =>
      (await bench.it.store.load("t1", budget))?.tail.map((message) => message.id);

    it("the tail is the newest messages whose contents fit the budget, and at least one", async () => {
      const { store } = bench.it;
      await withMessages(store, 5);
      expect(await tailIds(1_000)).toEqual(["1", "2", "3", "4", "5"]);
      expect(await tailIds(50)).toEqual(["1", "2", "3", "4", "5"]);
      expect(await tailIds(49)).toEqual(["2", "3", "4", "5"]);
      expect(await tailIds(20)).toEqual(["4", "5"]);
      expect(await tailIds(10)).toEqual(["5"]);
      expect(await tailIds(0)).toEqual(["5"]);
    });

    it("the budget counts UTF-16 code units", async () => {
      await withMessages(bench.it.store, 3, "👋👋é");
      expect(await tailIds(10)).toEqual(["2", "3"]);
      expect(await tailIds(9)).toEqual(["3"]);
    });

    it("history() pages backwards, oldest first", async () => {
      const { store } = bench.it;
      await withMessages(store, 12);
      const page = async (limit: number, before: string | null) =>
        (await store.history("t1", { limit, before })).map((message) => Number(message.id));
      expect(await page(10, null)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect(await page(10, "3")).toEqual([1, 2]);
      expect(await page(2, "12")).toEqual([10, 11]);
      expect(await page(10, "1")).toEqual([]);
      expect(await store.history("t1", { limit: 1, before: "5" })).toEqual([
        sampleMessage(4, { content: "0123456789" }),
      ]);
    });

    it.each(["0", "13", "-1", "03", "3.0", "1e1", "", "x", "99999999999999999999"])(
      "history() before %j, which no message has, is empty",
      async (before) => {
        const { store } = bench.it;
        await withMessages(store, 12);
        expect(await store.history("t1", { limit: 10, before })).toEqual([]);
      },
    );

    it("load() leaves the last run of an idle thread out where the active one is asked for", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      const continues = { fence, claims: false };
      const runIds = async () => [
        (await store.load("t1", BUDGET_CHARS, "active"))?.run?.runId,
        (await store.load("t1", BUDGET_CHARS, "last"))?.run?.runId,
      ];
      await store.commit(sampleCommit({ opId: "1", fence, messages: [sampleMessage(1)] }));
      expect(await runIds()).toEqual(["r1", "r1"]);
      await store.commit(sampleCommit({ opId: "2", ...continues, rev: 1, state: "awaiting", holds: false }));
      expect(await runIds()).toEqual(["r1", "r1"]);
      await store.commit(
        sampleCommit({ opId: "3", fence, rev: 2, readOp: "2", state: "idle", holds: false }),
      );
      expect(await runIds()).toEqual([undefined, "r1"]);
      const active = await store.load("t1", BUDGET_CHARS, "active");
      expect(await store.load("t1", BUDGET_CHARS)).toEqual({ ...active, run: sampleRun("r1") });
    });

    it("an unknown thread has no history and no runs", async () => {
      const { store } = bench.it;
      expect(await store.history("t1", { limit: 10, before: null })).toEqual([]);
      expect(await store.runs("t1", 10)).toEqual([]);
      expect(await store.load("t1", BUDGET_CHARS)).toBeNull();
    });

    it("setCatalog() replaces the catalog, clears it with an empty one, and leaves the revision alone", async () => {
      const { store } = bench.it;
      await withMessages(store, 1);
      const before = await store.load("t1", BUDGET_CHARS);
      await store.setCatalog("t1", "shop", [tool, { name: "other" }]);
      const catalogs = [[tool, { name: "other" }], [tool], []];
      const ids = new Set<unknown>([null]);
      for (const catalog of catalogs) {
        await store.setCatalog("t1", "shop", catalog);
        const { catalogId, ...record } = (await store.load("t1", BUDGET_CHARS)) ?? {};
        expect({ ...record, catalogId: null }).toEqual({ ...before, catalog });
        ids.add(catalogId);
      }
      expect(ids.size).toBe(4);
    });

    it("a claim that names its catalog is `changed` if the thread has another one by now", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      const reads = { fence, rev: 0, readOp: null, readCatalogId: null };
      await store.setCatalog("t1", "shop", [tool]);
      expect(await store.commit(sampleCommit({ opId: "a", ...reads }))).toEqual({ type: "changed" });
      const readCatalogId = (await store.load("t1", BUDGET_CHARS))?.catalogId ?? null;
      const newest = sampleCommit({ opId: "b", ...reads, readCatalogId, state: "idle", holds: false });
      expect(await store.commit(newest)).toMatchObject({ type: "committed" });
      await store.setCatalog("t1", "shop", []);
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

    it("a catalog may come before the first message, and a commit leaves it alone", async () => {
      const { store } = bench.it;
      await store.setCatalog("t1", "shop", [tool]);
      expect(await store.load("t1", BUDGET_CHARS)).toEqual({
        uid: "t1",
        slug: "shop",
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
    });

    it("runs() lists the newest runs, the active one among them, oldest first", async () => {
      const { store } = bench.it;
      const fence = `${store.processId}:a`;
      for (let rev = 0; rev < 4; rev++) {
        const run = sampleRun(`r${rev}`, { saidAtMs: rev });
        await store.commit(sampleCommit({ opId: `${rev}`, fence, rev, claims: rev === 0, run }));
      }
      expect((await store.runs("t1", 10)).map((run) => run.runId)).toEqual(["r0", "r1", "r2", "r3"]);
      expect((await store.runs("t1", 2)).map((run) => run.runId)).toEqual(["r2", "r3"]);
      const terminal = { type: "done" as const, elapsedMs: 9 };
      const ended = sampleRun("r3", { saidAtMs: 3, outcome: "done", terminal });
      await store.commit(sampleCommit({ opId: "end", fence, rev: 4, claims: false, run: ended }));
      expect(await store.runs("t1", 1)).toEqual([
        { runId: "r3", saidAtMs: 3, outcome: "done", path: ended.path, terminal },
      ]);
    });

    it("P1: a thread outlives the process whole", async () => {
      const { store, reopen } = bench.it;
      await withMessages(store, 3);
      await store.setCatalog("t1", "shop", [tool]);
      const before = await store.load("t1", BUDGET_CHARS);
      const runs = await store.runs("t1", 10);
      const again = await reopen();
      expect(await again.load("t1", BUDGET_CHARS)).toEqual(before);
      expect(await again.runs("t1", 10)).toEqual(runs);
    });
  });
}
