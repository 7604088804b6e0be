// For src/http/reads.ts
import { expect, test } from "vitest";
import { createReads } from "../../../src/http/reads.ts";

test("G23: a page of one thread waits for one page of another, however many were asked for", async () => {
  const reads = createReads(() => false);
  const order: string[] = [];
  const read = (uid: string) =>
    reads.page(uid, async () => {
      order.push(uid);
      await new Promise((resolve) => setImmediate(resolve));
    });
  const greedy = Array.from({ length: 600 }, () => read("greedy"));
  const others = ["ada", "bo"].map(read);
  await Promise.all([...greedy, ...others]);
  expect(order).toHaveLength(602);
  // Sixteen are read at once, then they take turns.
  expect(order.indexOf("ada")).toBeLessThan(16 + 3);
  expect(order.indexOf("bo")).toBeLessThan(16 + 3);
});
