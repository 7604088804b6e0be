// For src/visitors/, src/stores/steps/users/
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkInvariants } from "../stores/twin/invariants.ts";
import { dumpRedis } from "../stores/dump-store.ts";
import { beginsOfCommands, openRedisWithFile } from "../support/stores/redis-file.ts";
import { faultsOf, outcomeOf, prepareLink } from "./linking.ts";

describe("P10: a linking whose store is killed is done or not done, and done where it was acknowledged", () => {
  test("on a Redis killed around its function", async () => {
    const { server, store } = await openRedisWithFile();
    const acknowledged = new Set<number>();
    const links: (() => Promise<void>)[] = [];
    // So many turns of the event loop after the first step, or after the last.
    for (const turns of fc.sample(fc.integer({ min: 0, max: 30 }), 10)) {
      const prepared = await Promise.all([0, 1, 2, 3].map((nth) => prepareLink(store, links.length + nth)));
      const linking = prepared.map((link, index) =>
        link().then(() => void acknowledged.add(links.length + index)),
      );
      const settled = Promise.allSettled(linking);
      for (let n = 0; n < turns; n++) await setImmediate();
      await server.kill9();
      await settled;
      links.push(...prepared);
      await server.restart();
      expect(faultsOf(await dumpRedis([server.url]), links.length, acknowledged)).toEqual([]);
      await expect.poll(() => store.changeCount().catch(() => null)).not.toBeNull();
    }
  });

  test.each([
    ["a merge", 0],
    ["a promotion", 1],
  ])("on a Redis whose file is cut in the middle of %s", async (_, nth) => {
    const { server, store, file } = await openRedisWithFile();
    const link = await prepareLink(store, nth);
    // What Redis answers is in its file before.
    const from = statSync(file).size;
    await link();
    await server.kill9();
    const bytes = readFileSync(file);
    expect(bytes.subarray(from).toString()).toMatch(/MULTI[^]*EXEC/);
    // What comes behind it tells others of the change.
    const done = bytes.indexOf("EXEC\r\n", from) + "EXEC\r\n".length;

    for (const cut of cutsOf(bytes, from)) {
      await server.kill9();
      writeFileSync(file, bytes.subarray(0, cut));
      await server.restart();
      const dump = await dumpRedis([server.url]);
      expect(checkInvariants(dump)).toEqual([]);
      expect(outcomeOf(dump, nth)).toBe(cut >= done ? "after" : "before");
    }
  });
});

/** At, before and after each command's begin, and some places between; nothing cut off last. */
function cutsOf(bytes: Buffer, from: number): number[] {
  const begins = beginsOfCommands(bytes, from);
  const inside = fc.sample(fc.integer({ min: from, max: bytes.length - 1 }), 8);
  const around = begins.flatMap((at) => [at, at + 1]);
  return [...new Set([...around, ...inside, bytes.length - 1, bytes.length])];
}
