import { beforeEach, describe, expect, it } from "vitest";
import type { Bench } from "./contract.ts";
import { SLUG, sampleChannel } from "./samples.ts";

const [FIRST, SECOND, THIRD] = ["2026-11-20", "2026-11-21", "2026-11-22"];
const ALL = { from: FIRST, to: THIRD };
const counted = { slug: SLUG, day: SECOND, by: "p1", visitors: ["u1", "u2"] };

export function statsPromises(bench: Bench): void {
  describe("what happened, by day", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("adds up over counts, days apart, and each visitor counts once a day", async () => {
      const { store } = bench.it;
      await store.addStats({ ...counted, nth: 1, counts: { messages: 2, "wait.3": 1 } });
      await store.addStats({ ...counted, nth: 2, counts: { messages: 1 }, visitors: ["u2", "u3"] });
      await store.addStats({ ...counted, nth: 1, day: THIRD, counts: { messages: 5 }, visitors: ["u1"] });
      await store.addStats({ ...counted, nth: 1, slug: "other", counts: { messages: 9 } });
      expect(await store.stats(SLUG, ALL)).toEqual([
        { day: SECOND, counts: { messages: 3, "wait.3": 1 }, visitors: 3 },
        { day: THIRD, counts: { messages: 5 }, visitors: 1 },
      ]);
      expect(await store.stats(SLUG, { from: FIRST, to: SECOND })).toHaveLength(1);
      expect(await store.stats(SLUG, { from: THIRD, to: FIRST })).toEqual([]);
      expect(await store.stats("nowhere", ALL)).toEqual([]);
    });

    it("a count that comes again adds nothing", async () => {
      const { store } = bench.it;
      await store.addStats({ ...counted, nth: 1, counts: { messages: 2 } });
      await store.addStats({ ...counted, nth: 1, counts: { messages: 2 } });
      expect(await store.stats(SLUG, ALL)).toMatchObject([{ counts: { messages: 2 }, visitors: 2 }]);
      await store.addStats({ ...counted, by: "p2", nth: 1, counts: { messages: 2 } });
      expect(await store.stats(SLUG, ALL)).toMatchObject([{ counts: { messages: 4 }, visitors: 2 }]);
    });

    it("counts of many processes that come at once add up", async () => {
      const { store, another } = bench.it;
      const other = (await another()) ?? store;
      const all = Array.from({ length: 10 }, (_, nth) => `p${nth}`);
      await Promise.all(
        all.map((by, nth) =>
          (nth % 2 ? store : other).addStats({ ...counted, by, nth: 1, counts: { messages: 2 } }),
        ),
      );
      expect(await store.stats(SLUG, ALL)).toEqual([{ day: SECOND, counts: { messages: 20 }, visitors: 2 }]);
    });

    it("is there after a restart", async () => {
      await bench.it.store.addStats({ ...counted, nth: 1, counts: { messages: 2 } });
      const store = await bench.it.reopen();
      expect(await store.stats(SLUG, ALL)).toEqual([{ day: SECOND, counts: { messages: 2 }, visitors: 2 }]);
    });
  });
}
