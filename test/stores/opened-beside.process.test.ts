import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openLmdbEngine } from "../../src/stores/engines/lmdb/engine.ts";
import { temporaryFolder } from "../support/data-dir.ts";

const TIMES = 500;
const KEY = "m:{t:00}:a";
const textOf = (count: number) => (count === 0 ? null : String(count));

/** Without the care of src/stores/engines/lmdb/opening.ts, one of the first thousand changes is lost. */
test("P1: no change is lost while other processes open the store and close it, again and again", async () => {
  const dataDir = temporaryFolder();
  const engine = await openLmdbEngine({ dataDir, clock: systemClock });
  const script = join(import.meta.dirname, "open-again.ts");
  const opener = spawn(process.execPath, ["--import", "tsx", script, join(dataDir, "store"), String(TIMES)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = once(opener, "exit");
  let isOpening = true;
  void exited.then(() => (isOpening = false));
  let written = 0;
  for (; isOpening; written++) {
    const counted = await engine.apply({
      slot: "t:00",
      checks: [{ check: "field", key: KEY, field: "n", is: [textOf(written)] }],
      writes: [{ write: "set", key: KEY, fields: [["n", String(written + 1)]] }],
    });
    expect([counted.type, written]).toEqual(["done", written]);
    await setImmediate();
  }
  expect(await exited).toEqual([0, null]);
  expect(await engine.read([{ read: "fields", key: KEY, fields: ["n"] }])).toEqual([[textOf(written)]]);
  await engine.close();
});
