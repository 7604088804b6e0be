import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder for one test. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "chat-agent-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
