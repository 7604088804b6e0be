// For src/stores/engines/lmdb/
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/stores/data-dir.ts";

const SCRIPT = join(import.meta.dirname, "free-pages.ts");

function play(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", SCRIPT, ...args], {
    encoding: "utf8",
    timeout: 120_000,
  });
  return { status, steps: stdout.trim().split("\n").map(Number), stderr };
}

test("a commit that lmdb fails at its list of free pages takes nothing that was acknowledged, and the store goes on", () => {
  const folder = temporaryFolder();
  const failed = play(folder);
  // Where this fails, lmdb is mended: README.md of src/stores says otherwise.
  expect(failed.status).not.toBe(0);
  expect(failed.stderr).toMatch(/mdb_freelist_save|MDB_BAD_TXN|Commit failed/);
  const last = failed.steps.at(-1) ?? 0;
  expect(last).toBeGreaterThan(0);

  const again = play(folder, "again");
  expect(again).toMatchObject({ status: 0, steps: Array.from({ length: 9 }, (_, nth) => last + nth) });
});
