import { expect, it } from "vitest";
import type { Bench } from "./contract.ts";
import { DAY, SLUG } from "../samples.ts";

const [BEFORE, AFTER] = ["2026-11-20", "2026-11-22"];
const counted = { slug: SLUG, day: DAY, by: "p1", visitors: ["u1", "u2"] };

export function statsPromises(bench: Bench): void {
  it("what happened adds up by day; a count that comes again adds nothing, and each visitor counts once a day", async () => {
    const { store } = bench.it;
    for (let time = 0; time < 2; time++) {
      await store.addStats({ ...counted, nth: 1, counts: { messages: 2, "wait.3": 1 } });
    }
    await store.addStats({ ...counted, nth: 2, counts: { messages: 1 }, visitors: ["u2", "u3"] });
    await store.addStats({ ...counted, by: "p2", nth: 1, counts: { messages: 4 } });
    await store.addStats({ ...counted, nth: 1, day: AFTER, counts: { messages: 5 }, visitors: ["u1"] });
    await store.addStats({ ...counted, nth: 1, slug: "other", counts: { messages: 9 } });
    expect(await store.stats(SLUG, { from: BEFORE, to: AFTER })).toEqual([
      { day: DAY, counts: { messages: 7, "wait.3": 1 }, visitors: 3 },
      { day: AFTER, counts: { messages: 5 }, visitors: 1 },
    ]);
    expect(await store.stats(SLUG, { from: BEFORE, to: DAY })).toHaveLength(1);
    expect(await store.stats(SLUG, { from: AFTER, to: BEFORE })).toEqual([]);
  });
}
