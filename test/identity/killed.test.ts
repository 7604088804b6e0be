import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { dumpEmbedded } from "../stores/dump-embedded.ts";
import { checkInvariants } from "../stores/invariants.ts";
import { sampleChannel } from "../stores/samples.ts";
import { temporaryFolder } from "../support/data-dir.ts";
import { dumpRedis } from "../support/dump-redis.ts";
import { startRedis } from "../support/redis-server.ts";
import { linkNext, outcomeOf } from "./linking.ts";

/** How many turns of the event loop after a linking began its store is killed: from before its first step to after its last. */
const someTurns = fc.integer({ min: 0, max: 60 });

async function pass(turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) await setImmediate();
}

/** Starts a process that links, kills it so many turns after the `count`th linking began, and answers how many it was told were done. */
async function linkUntilKilled(dataDir: string, count: number, turns: number): Promise<number> {
  const script = join(import.meta.dirname, "merge-until-killed.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let acknowledged = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, nth] = line.split(" ");
    if (word === "linked") acknowledged = Number(nth) + 1;
    if (word === "linking" && Number(nth) === count - 1) {
      await pass(turns);
      child.kill("SIGKILL");
    }
  }
  expect(await exited).toEqual([null, "SIGKILL"]);
  return acknowledged;
}

describe("P10, X15: a linking whose store is killed is done or not done, and done where it was acknowledged", () => {
  test("on the embedded store", async () => {
    const kills = fc.sample(fc.record({ count: fc.integer({ min: 1, max: 12 }), turns: someTurns }), 5);
    for (const { count, turns } of kills) {
      const dataDir = temporaryFolder();
      const acknowledged = await linkUntilKilled(dataDir, count, turns);
      const dump = await dumpEmbedded(dataDir);
      expect(checkInvariants(dump)).toEqual([]);
      for (let nth = 0; nth < count; nth++) {
        expect(outcomeOf(dump, nth)).toMatch(nth < acknowledged ? /^after$/ : /^(before|after)$/);
      }
    }
  });

  test("on a Redis killed around its function", async () => {
    const { server, store } = await openRedis();
    for (const [nth, turns] of fc.sample(someTurns, 10).entries()) {
      let killed: Promise<void> = Promise.resolve();
      let isAcknowledged = false;
      const linking = linkNext(store, nth, (word) => {
        if (word === "linked") isAcknowledged = true;
        else killed = pass(turns).then(() => server.kill9());
      });
      await linking.catch(() => {});
      await killed;
      await server.restart();
      const dump = await dumpRedis([server.url]);
      expect(checkInvariants(dump)).toEqual([]);
      expect(outcomeOf(dump, nth)).toMatch(isAcknowledged ? /^after$/ : /^(before|after)$/);
      await expect.poll(() => store.changeCount().catch(() => null), { timeout: 10_000 }).not.toBeNull();
    }
  });

  test.each([
    ["a merge", 0],
    ["a promotion", 1],
  ])("on a Redis whose file is cut in the middle of %s", async (_, nth) => {
    const { server, store } = await openRedis();
    const file = join(server.dir, "appendonlydir", "appendonly.aof.1.incr.aof");
    let from = 0;
    // What Redis answers is in its file before.
    await linkNext(store, nth, (word) => {
      if (word === "linking") from = statSync(file).size;
    });
    await server.kill9();
    const bytes = readFileSync(file);
    expect(bytes.subarray(from).toString()).toMatch(/MULTI[^]*EXEC/);

    for (const cut of cutsOf(bytes, from)) {
      await server.kill9();
      writeFileSync(file, bytes.subarray(0, cut));
      await server.restart();
      const dump = await dumpRedis([server.url]);
      expect(checkInvariants(dump)).toEqual([]);
      expect(outcomeOf(dump, nth)).toBe(cut === bytes.length ? "after" : "before");
    }
  });
});

/** At, before and after each command's begin, and some places between; nothing cut off last. */
function cutsOf(bytes: Buffer, from: number): number[] {
  const begins = [
    ...bytes
      .subarray(from)
      .toString("latin1")
      .matchAll(/\*\d+\r\n/g),
  ].map(({ index }) => from + index);
  const inside = fc.sample(fc.integer({ min: from, max: bytes.length - 1 }), 8);
  const around = begins.flatMap((at) => [at, at + 1]);
  return [...new Set([...around, ...inside, bytes.length - 1, bytes.length])];
}

async function openRedis() {
  // By default Redis may answer before it writes, while it waits for the disk: what was acknowledged could be missing.
  const server = await startRedis({ args: ["--appendfsync", "always"] });
  const store = await openRedisStore({
    urls: [server.url],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
  });
  onTestFinished(async () => {
    await store.close();
    await server.stop();
  });
  await store.putChannel(sampleChannel());
  return { server, store };
}
