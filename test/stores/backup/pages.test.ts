// For src/stores/backup/pages.ts, src/stores/engine.ts, src/stores/engines/lmdb/pages.ts
import { expect, test } from "vitest";
import { rangePages } from "../../../src/stores/backup/pages.ts";
import { createMemoryEngine } from "../engine/memory-engine.ts";
import { systemClock } from "../../../src/clock.ts";

test("between two pages other work runs, also where the engine answers at once", async () => {
  const engine = createMemoryEngine(systemClock).handle();
  const members = Array.from({ length: 10 }, (_, nth) => [`m${nth}`, nth] as const);
  await engine.apply({ slot: "s", checks: [], writes: [{ write: "put", key: "z", members, mode: "new" }] });
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const pages: string[][] = [];
  for await (const page of rangePages(engine, "z", { limit: 3 })) pages.push(page.map(([member]) => member));
  clearImmediate(immediate);
  expect(pages.flat()).toEqual(members.map(([member]) => member));
  expect(turns).toBeGreaterThanOrEqual(pages.length - 1);
});
