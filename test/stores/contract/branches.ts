import { describe, expect, it } from "vitest";
import type { ThreadCommit } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { sampleCommit, sampleMessage, SLUG } from "../samples.ts";

export function branchPromises(bench: Bench): void {
  let opCount = 0;
  const commit = (count: number, ids: number[], hides?: ThreadCommit["hides"]) => {
    opCount += 1;
    return bench.it.store.commit(
      sampleCommit({
        opId: `b${opCount}`,
        fence: `${bench.it.store.processId}:a`,
        claims: count === 0,
        rev: count,
        messages: ids.map((id) => sampleMessage(id, { content: `m${id}` })),
        ...(hides ? { hides } : {}),
      }),
    );
  };
  const idsOf = (messages: readonly { id: string }[]) => messages.map(({ id }) => id).join(" ");
  const history = async (page: object = {}, store = bench.it.store) =>
    idsOf(await store.history("t1", { limit: 99, before: null, ...page }));

  describe("a branch", () => {
    it("takes the place of items that nobody reads any more, unless all branches are asked for", async () => {
      await commit(0, [1, 2, 3, 4]);
      await commit(1, [5, 6], { from: 3, to: 4, summarized: false });
      const store = await bench.it.reopen();
      expect(await history({}, store)).toBe("1 2 5 6");
      expect(await history({ limit: 3 }, store)).toBe("2 5 6");
      expect(await history({ limit: 1, before: "5" }, store)).toBe("2");
      expect(await history({ limit: 2, before: "6" }, store)).toBe("2 5");
      expect(await history({ limit: 1, before: "5", budgetChars: 1_000 }, store)).toBe("2");
      expect(await history({ budgetChars: 1_000 }, store)).toBe("1 2 5 6");
      expect(await history({ all: true }, store)).toBe("1 2 3 4 5 6");
      const all = await store.history("t1", { limit: 99, before: null, all: true });
      expect(all.filter(({ otherBranch }) => otherBranch).map(({ id }) => id)).toEqual(["3", "4"]);
      const record = await store.load("t1", 1_000);
      expect([idsOf(record?.tail ?? []), record?.messageCount, record?.hidden]).toEqual([
        "1 2 5 6",
        6,
        [[3, 4]],
      ]);
      const look = await store.look("t1", 2);
      expect([idsOf(look.messages), look.to]).toEqual(["5 6", 6]);
    });

    it("begun in the place of an earlier item takes those of branches after it along", async () => {
      await commit(0, [1, 2, 3, 4]);
      await commit(1, [5], { from: 4, to: 4, summarized: false });
      await commit(2, [6], { from: 3, to: 5, summarized: false });
      expect(await history()).toBe("1 2 6");
      await commit(3, [7], { from: 1, to: 6, summarized: false });
      expect(await history()).toBe("7");
      expect((await bench.it.store.load("t1", 1_000))?.hidden).toEqual([[1, 6]]);
      expect(await history({ all: true })).toBe("1 2 3 4 5 6 7");
    });

    it("is not summarised with what it has left out, however late that summary comes", async () => {
      const { store } = bench.it;
      const summary = { text: "S", upTo: 4, atMs: 5, model: "m", usage: null };
      const keep = (after: number, hidden?: readonly (readonly [number, number])[]) =>
        store.keepHistorySummary({ uid: "t1", slug: SLUG, summary, after, ...(hidden ? { hidden } : {}) });
      await commit(0, [1, 2, 3, 4]);
      expect(await keep(0)).toBe(true);
      await commit(1, [5], { from: 4, to: 4, summarized: true });
      expect(await store.historySummary("t1")).toBeNull();
      expect(await store.load("t1", 1_000)).not.toHaveProperty("historySummary");
      expect(await keep(0)).toBe(false);
      expect(await keep(0, [[4, 4]])).toBe(true);
      await commit(2, [6], { from: 5, to: 5, summarized: false });
      expect(await store.load("t1", 1_000)).toHaveProperty("historySummary");
    });
  });
}
