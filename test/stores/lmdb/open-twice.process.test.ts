// For src/stores/engines/lmdb/data-dir-lock.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/stores/data-dir.ts";

test("a process may open the embedded store twice while it writes to it", async () => {
  const script = join(import.meta.dirname, "open-twice.ts");
  // In a process of its own: who waits in lmdb's lock waits for ever, timers and all.
  const opener = spawn(process.execPath, ["--import", "tsx", script, temporaryFolder()], {
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
  expect(await once(opener, "exit")).toEqual([0, null]);
});
