// For src/stores/backup/store-data.ts, src/cli/store/progress.ts
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { openTestTerminal } from "../../support/terminal.ts";
import { store } from "./copy.ts";
import { fillStore } from "./fill.ts";
import { placeForTest, within } from "./places.ts";

/** What a person sees on stderr. */
async function watch(env: Record<string, string>, ...args: string[]): Promise<string> {
  const terminal = { ...openTestTerminal(env), watched: true };
  expect(await runProgram(["store", ...args], terminal)).toBe(0);
  return terminal.written.err;
}

test("a person who watches sees how far a check, a backup and a restore are; a script does not", async () => {
  const [full, empty] = [await placeForTest("embedded"), await placeForTest("embedded")];
  await within(full, fillStore);
  const file = join(temporaryFolder(), "backup");

  const gone = "\r\u001b[K";
  expect(await watch(full.env, "check")).toMatch(/Looked at [\d,]+ records, 0 of them look wrong/);
  const backedUp = await watch(full.env, "backup", file);
  expect(backedUp).toContain("channel");
  expect(await watch(empty.env, "restore", file)).toMatch(/Reading the backup: \d+%/);
  expect(backedUp.endsWith(gone)).toBe(true);
  expect((await store(full.env, "check")).err).toBe("");
});
