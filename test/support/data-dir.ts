import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder, gone with the run (own-temporary-folder.ts). */
export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), "chat-agent-"));
}

/** An empty folder for one test. */
export function temporaryFolder(): string {
  const path = emptyFolder();
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
