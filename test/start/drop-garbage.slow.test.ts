// For src/start/drop-garbage.ts
import { setImmediate as nextTick } from "node:timers/promises";
import { getHeapSpaceStatistics } from "node:v8";
import { describe, expect, test } from "vitest";
import { dropGarbage } from "../../src/start/drop-garbage.ts";

const youngBytes = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? NaN;

/** As loading modules does: much that is kept for a while, and then let go. */
function growYoungGeneration(): void {
  const kept: object[] = [];
  for (let i = 0; i < 2_000_000; i++) {
    kept.push({ i });
    if (kept.length > 200_000) kept.length = 0;
  }
}

function letGo(): WeakRef<object> {
  return new WeakRef({ nobody: "holds this" });
}

describe("dropGarbage()", () => {
  test("collects what nobody holds", async () => {
    const gone = letGo();
    await nextTick();
    await dropGarbage();
    expect(gone.deref()).toBeUndefined();
  });

  test("makes the young generation small again", async () => {
    growYoungGeneration();
    const grown = youngBytes();
    await dropGarbage();
    expect(youngBytes()).toBeLessThan(grown);
  });

  test("may be asked for again", async () => {
    await dropGarbage();
    await expect(dropGarbage()).resolves.toBeUndefined();
  });
});
