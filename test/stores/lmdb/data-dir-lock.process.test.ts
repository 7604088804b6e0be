// For src/stores/engines/lmdb/data-dir-lock.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockDataDir } from "../../../src/stores/engines/lmdb/data-dir-lock.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";

const places = process.platform === "linux" ? (["abstract", "file"] as const) : (["file"] as const);

test.each(places)("P9: a holder that is killed leaves no lock behind, with an %s socket", async (place) => {
  const dataDir = temporaryFolder();
  const holder = spawn(
    process.execPath,
    ["--import", "tsx", join(import.meta.dirname, "hold-lock.ts"), dataDir, place],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await once(holder.stdout, "data");
  await expect(lockDataDir(dataDir, place)).rejects.toThrow("another process serves it");
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await (
    await lockDataDir(dataDir, place)
  )();
});
