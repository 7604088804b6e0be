import { expect, test } from "vitest";
import type { Store } from "../../src/store.ts";
import { openDb } from "../../src/stores/embedded/db.ts";
import { openForTest } from "./open-embedded.ts";
import { expectFilled, orders, populate } from "./unfilled.ts";

/** As a version leaves it that keeps none of the orders. */
async function forget(dataDir: string): Promise<void> {
  const db = await openDb(dataDir);
  const kinds = ["act", "acts", "chg", "whose", "bl", "busy", "busyat", "filled"];
  await db.change("forget the orders", () => {
    const keys = kinds.flatMap((kind) => [...db.range([kind], (value) => value)].map(({ key }) => key));
    for (const key of keys) db.remove(key);
  });
  await db.close();
}

test("the embedded store fills its orders with what an earlier version wrote, over restarts", async () => {
  const opened = await openForTest();
  await populate(opened.store);
  const before = await orders(opened.store);
  await forget(opened.dataDir);
  let store: Store = await opened.reopen();
  expect((await orders(store)).threads).toEqual([]);
  // Each step by another process.
  while (await store.fillOrders()) store = await opened.reopen();
  await expectFilled(store, before);
  await opened.clean();
});

test("the orders by state are filled where those before them were filled already", async () => {
  const opened = await openForTest();
  await populate(opened.store);
  const before = await orders(opened.store);
  while (await opened.store.fillOrders());
  await opened.store.close();
  const db = await openDb(opened.dataDir);
  await db.change("forget the orders by state", () => {
    const keys = ["busy", "busyat"].flatMap((kind) => [...db.range([kind], (value) => value)]);
    for (const { key } of keys) db.remove(key);
    db.put(["filled"], "done");
  });
  await db.close();
  const store = await opened.reopen();
  // Until then they are looked for among all.
  expect(await orders(store)).toEqual({ ...before, isScanned: false });
  while (await store.fillOrders());
  await expectFilled(store, before);
  await store.close();
  const filled = await openDb(opened.dataDir);
  expect([...filled.range(["busyat"], (value) => value)]).toHaveLength(12);
  await filled.close();
  await opened.clean();
});
