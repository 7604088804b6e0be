import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dumpEmbedded } from "../stores/dump-embedded.ts";
import { checkInvariants } from "../stores/invariants.ts";
import type { StoreDump } from "../stores/invariants.ts";
import { temporaryFolder } from "../support/data-dir.ts";
import { dumpRedis } from "../support/dump-redis.ts";
import { beginsOfCommands, openRedisWithFile } from "../support/redis-file.ts";
import { prepareLink, outcomeOf } from "./linking.ts";

const LINKINGS = 100;

/** Starts a process that links, and kills it when it has told of so many; answers which those were. */
async function linkUntilKilled(dataDir: string, count: number): Promise<Set<number>> {
  const script = join(import.meta.dirname, "merge-until-killed.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, dataDir, String(LINKINGS)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const acknowledged = new Set<number>();
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== "prepared") acknowledged.add(Number(line));
    if (acknowledged.size === count) child.kill("SIGKILL");
  }
  expect(await exited).toEqual([null, "SIGKILL"]);
  return acknowledged;
}

/** What is wrong with the linkings 0 to `count`; empty where all is well. */
function faultsOf(dump: StoreDump, count: number, acknowledged: ReadonlySet<number>): string[] {
  const outcomes = Array.from({ length: count }, (_, nth) => ({ nth, outcome: outcomeOf(dump, nth) }));
  const wrong = outcomes.filter(({ nth, outcome }) =>
    acknowledged.has(nth) ? outcome !== "after" : outcome !== "before" && outcome !== "after",
  );
  return [...checkInvariants(dump), ...wrong.map(({ nth, outcome }) => `linking ${nth}: ${outcome}`)];
}

describe("P10, X15: a linking whose store is killed is done or not done, and done where it was acknowledged", () => {
  test("on the embedded store", async () => {
    for (const count of fc.sample(fc.integer({ min: 0, max: LINKINGS - 10 }), 4)) {
      const dataDir = temporaryFolder();
      const acknowledged = await linkUntilKilled(dataDir, count);
      expect(faultsOf(await dumpEmbedded(dataDir), LINKINGS, acknowledged)).toEqual([]);
    }
  });

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
      await expect.poll(() => store.changeCount().catch(() => null), { timeout: 10_000 }).not.toBeNull();
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
  const begins = beginsOfCommands(bytes, from);
  const inside = fc.sample(fc.integer({ min: from, max: bytes.length - 1 }), 8);
  const around = begins.flatMap((at) => [at, at + 1]);
  return [...new Set([...around, ...inside, bytes.length - 1, bytes.length])];
}
