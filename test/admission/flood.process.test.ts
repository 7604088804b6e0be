// For src/admission/rate-windows.ts, src/admission/sketch.ts
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("P18: a million addresses more than are counted exactly add nothing to what is held", async () => {
  const args = ["--expose-gc", "--import", "tsx", join(import.meta.dirname, "flood.ts"), "2000000"];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { full, end } = JSON.parse(stdout) as { full: number; end: number };
  expect(full).toBeLessThan(150);
  expect(end).toBeLessThanOrEqual(full + 5);
});
