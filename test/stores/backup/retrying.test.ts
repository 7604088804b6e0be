// For src/stores/backup/retrying.ts, src/stores/engine.ts, src/stores/tables.ts
import { expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/store.ts";
import { retrying } from "../../../src/stores/backup/retrying.ts";
import { slotOf } from "../../../src/stores/engine.ts";
import type { Engine } from "../../../src/stores/engine.ts";
import { tables } from "../../../src/stores/tables.ts";
import { createMemoryEngine } from "../engine/memory-engine.ts";

const { key } = tables.ips;
const STEP = { slot: slotOf(key), checks: [], writes: [{ write: "set", key, fields: [["a", ""]] }] } as const;

/** Its first call of each kind fails; pages fail after the first one. */
function failingOnce(engine: Engine, error: Error): Engine {
  const called = new Set<string>();
  const once = (name: string) => {
    if (called.has(name)) return;
    called.add(name);
    throw error;
  };
  return {
    ...engine,
    async read(...asked) {
      once("read");
      return engine.read(...asked);
    },
    async apply(...asked) {
      const applied = await engine.apply(...asked);
      once("apply");
      return applied;
    },
    async *hashPages(of) {
      yield* engine.hashPages(of);
      once("hashPages");
    },
  };
}

test("work on all data goes on when the store was away for a moment", async () => {
  const engine = retrying(failingOnce(createMemoryEngine(), new StoreUnavailable("answer")));
  expect((await engine.apply(STEP)).type).toBe("done");
  expect(await engine.read([{ read: "hash", key }])).toEqual([[["a", ""]]]);
  const pages: unknown[] = [];
  for await (const page of engine.hashPages(key)) pages.push(page);
  expect(pages).toEqual([[["a", ""]], [["a", ""]]]);
});

test("work on all data ends with any other error", async () => {
  const engine = retrying(failingOnce(createMemoryEngine(), new Error("a bug")));
  await expect(engine.read([{ read: "hash", key }])).rejects.toThrow("a bug");
});
