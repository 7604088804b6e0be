// For src/threads/recover/
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { holderOf } from "../../src/domain/threads/fence.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { inEveryOrder } from "./crash/every-order.ts";
import type { Actor } from "./crash/every-order.ts";
import { claim, lookAround } from "./history/looks.ts";

test("P9: a process that wakes and dies leaves what it held on the embedded store to the next start, whatever it did last", async () => {
  const leftBehind: string[] = [];
  await inEveryOrder(async () => {
    const dataDir = temporaryFolder();
    const open = () => openEmbeddedStore({ dataDir, clock: systemClock });
    const store = await open();
    const wake: Actor = {
      mayDie: true,
      async act(gate) {
        await gate.pass();
        await claim(store, { uid: "t1", rev: 0, readOp: null, takesFrom: null });
        await gate.pass();
        await store.beat();
      },
    };
    return {
      actors: [wake],
      async judge(order) {
        const heir = await open();
        await lookAround(heir);
        const fence = (await heir.load("t1", 1))?.fence;
        if (fence && holderOf(fence) === store.processId) leftBehind.push(order);
        await Promise.all([store.close(), heir.close()]);
      },
    };
  });
  expect(leftBehind).toEqual([]);
});
