// For src/stores/engines/lmdb/file.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFile } from "../../../src/stores/engines/lmdb/file.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";

/** Resolves when it is over, with what its changes have left. */
async function exitInAChange(...args: string[]) {
  const dataDir = temporaryFolder();
  const child = spawn(
    process.execPath,
    ["--import", "tsx", join(import.meta.dirname, "exit-in-a-change.ts"), dataDir, ...args],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const [code, signal] = await once(child, "exit");
  const { db, close } = await openFile(dataDir);
  const left = db.get("n");
  await close();
  return { code, signal, left };
}

test("P29: a second SIGTERM in a change of the embedded store lets it end, begins no other, and exits with 1", async () => {
  expect(await exitInAChange()).toEqual({ code: 1, signal: null, left: "the one that had begun" });
});

test("P29: a second SIGTERM in a change that never ends kills the process", async () => {
  expect(await exitInAChange("hangs")).toEqual({ code: null, signal: "SIGKILL" });
});
