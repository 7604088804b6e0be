import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * One temporary folder for all tests of a run, and for the processes that they start: whatever one of them leaves behind,
 * because it was killed or crashed, goes with the folder. Browsers keep their files in it too, instead of in the home.
 */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "chat-agent-tests-"));
  process.env["TMPDIR"] = folder;
  process.env["XDG_CONFIG_HOME"] = join(folder, "config");
  process.env["XDG_CACHE_HOME"] = join(folder, "cache");
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
