// For src/stores/engine.ts, src/stores/tables.ts, src/stores/walk.ts
import { expect, test } from "vitest";
import { slotOf } from "../../src/stores/engine.ts";
import { ALL_BUCKETS, bucketOf, tables } from "../../src/stores/tables.ts";
import { walk } from "../../src/stores/walk.ts";
import type { WalkedKey } from "../../src/stores/walk.ts";
import { createMemoryEngine } from "./engine/memory-engine.ts";

async function walked(keys: readonly string[]): Promise<WalkedKey[]> {
  const engine = createMemoryEngine();
  for (const key of keys) {
    const writes = [{ write: "set", key, fields: [["field", "value"]] }] as const;
    await engine.apply({ slot: slotOf(key), checks: [], writes });
  }
  const found: WalkedKey[] = [];
  for await (const page of walk(engine)) found.push(...page);
  return found;
}

/** A key of every table, as its own function names it. */
const NAMED = Object.entries(tables).map(([table, { key }]) => ({
  table,
  key: typeof key === "function" ? key("shop", "any:id {x}") : key,
}));

test("a walk names the table of every key, also where two planes use one name", async () => {
  const found = await walked(NAMED.map(({ key }) => key));
  expect(found.map(({ table, key }) => ({ table, key }))).toEqual(NAMED);
  const names = new Set(Object.values(tables).map(({ name, plane }) => `${plane} ${name}`));
  expect(names.size).toBe(Object.keys(tables).length);
});

test("a walk takes the slug or the bucket, and the id, out of a key", async () => {
  const [bucket = ""] = ALL_BUCKETS;
  const keys = [
    tables.channels.key,
    tables.users.key("shop"),
    tables.user.key("shop", "ann:b"),
    tables.header.key("thread 1"),
    tables.due.key(bucket),
    tables.held.key(bucket, "process"),
  ];
  expect((await walked(keys)).map(({ table, tag, id }) => [table, tag, id])).toEqual([
    ["channels", "", ""],
    ["users", "shop", ""],
    ["user", "shop", "ann:b"],
    ["header", bucketOf("thread 1"), "thread 1"],
    ["due", bucket, ""],
    ["held", bucket, "process"],
  ]);
});

test("a walk skips what is not the store's", async () => {
  const foreign = ["other:{g}", "h:{c:shop}:uid", "h:{x:00}:uid", "nothing", "v:{g}", "c:{c:shop", ""];
  expect(await walked([...foreign, tables.channels.key])).toMatchObject([{ table: "channels" }]);
});
