// For src/stores/engines/lmdb/data-dir.ts
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDataDir } from "../../../src/stores/engines/lmdb/data-dir.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";

it("makes the folder and those above it, for their owner alone, and takes one that is there", () => {
  const dataDir = join(temporaryFolder(), "a", "b");
  makeDataDir(dataDir);
  makeDataDir(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

it.skipIf(!existsSync("/proc/self"))(
  "refuses a place where the system makes no folders, and does not try for ever (Linux's /proc)",
  () => {
    const dataDir = "/proc/chat-agent/data";
    expect(() => makeDataDir(dataDir)).toThrow(`Cannot write to DATA_DIR ${dataDir}: `);
  },
);
