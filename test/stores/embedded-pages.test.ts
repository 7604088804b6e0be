import { expect, onTestFinished, test } from "vitest";
import { openDb } from "../../src/stores/embedded/db.ts";
import { pagesOf } from "../../src/stores/embedded/export.ts";
import { temporaryFolder } from "../support/data-dir.ts";

test("a walk over all records gives others a turn after each page: lmdb's cursors are freed in none but such a turn", async () => {
  const db = await openDb(temporaryFolder());
  onTestFinished(() => db.close());
  await db.change("fill", () => {
    for (let i = 0; i < 100; i++) db.put(["x", i], i);
  });
  let turns = 0;
  let isOver = false;
  const count = () => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  let pages = 0;
  for await (const page of pagesOf(db, ["x"], (value) => value, 10)) pages += page.length > 0 ? 1 : 0;
  isOver = true;
  expect(pages).toBe(10);
  expect(turns).toBeGreaterThanOrEqual(pages - 1);
});
