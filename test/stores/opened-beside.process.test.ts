import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { isNumber, readerOf } from "../../src/stores/checks.ts";
import { openDb } from "../../src/stores/embedded/db.ts";
import { temporaryFolder } from "../support/data-dir.ts";

const TIMES = 500;
const KEY = ["n"];
const readNumber = readerOf("number", isNumber);

/** Without the care of src/stores/embedded/opening.ts, one of the first thousand changes is lost. */
test("P1: no change is lost while other processes open the store and close it, again and again", async () => {
  const dataDir = temporaryFolder();
  const db = await openDb(dataDir);
  const opener = spawn(
    process.execPath,
    ["--import", "tsx", join(import.meta.dirname, "open-again.ts"), dataDir, String(TIMES)],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const exited = once(opener, "exit");
  let isOpening = true;
  void exited.then(() => (isOpening = false));
  let written = 0;
  while (isOpening) {
    const found = await db.change("count", () => {
      const before = db.get(KEY, readNumber) ?? 0;
      db.put(KEY, before + 1);
      return before;
    });
    expect(found).toBe(written);
    written++;
    await setImmediate();
  }
  expect(await exited).toEqual([0, null]);
  expect(db.get(KEY, readNumber)).toBe(written);
  await db.close();
});
