// For src/visitors/, src/stores/steps/users/
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { expect, test } from "vitest";
import { dumpEmbedded } from "../stores/dump-store.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { faultsOf } from "./linking.ts";

const LINKINGS = 100;

/** Starts a process that links, and kills it when it has told of so many; answers which those were. */
async function linkUntilKilled(dataDir: string, count: number): Promise<Set<number>> {
  const script = join(import.meta.dirname, "merge-until-killed.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, dataDir, String(LINKINGS)], {
    stdio: ["pipe", "pipe", "inherit"],
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

test("P10: a linking whose process is killed is done or not done, and done where it was acknowledged", async () => {
  for (const count of fc.sample(fc.integer({ min: 0, max: LINKINGS - 10 }), 4)) {
    const dataDir = temporaryFolder();
    const acknowledged = await linkUntilKilled(dataDir, count);
    expect(faultsOf(await dumpEmbedded(dataDir), LINKINGS, acknowledged)).toEqual([]);
  }
});
