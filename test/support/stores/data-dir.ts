import { existsSync, mkdtempSync, rmSync } from "node:fs";
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

/**
 * In memory, where this machine has such folders: for what is not about power cuts, where a disk that others keep busy
 * for two seconds would be an outage of the store.
 */
export function folderInMemory(): string {
  const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = mkdtempSync(join(memory, "chat-agent-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
