import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Compaction } from "../../backup/store-data.ts";
import { openFile } from "./file.ts";

/**
 * Replaces the file by a copy that has no free pages, and so nothing of what was deleted. The caller holds the lock, and
 * has closed the file.
 *
 * The copy is on the disk before a rename puts it in the file's place: a crash before that leaves the file as it was,
 * and a folder that the next compaction removes.
 */
export async function compactFile(dataDir: string): Promise<Compaction> {
  const [folder, fresh] = [join(dataDir, "store"), join(dataDir, "store.compacting")];
  const [file, copy] = [join(folder, "data.mdb"), join(fresh, "data.mdb")];
  const bytesBefore = statSync(file).size;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  await copyTo(folder, fresh);
  chmodSync(copy, 0o600);
  flush(copy);
  renameSync(copy, file);
  flush(folder);
  // It describes transactions of the old file.
  rmSync(join(folder, "lock.mdb"), { force: true });
  rmSync(fresh, { recursive: true });
  return { kind: "embedded", bytesBefore, bytesAfter: statSync(file).size };
}

async function copyTo(folder: string, fresh: string): Promise<void> {
  const file = await openFile(folder);
  try {
    await file.db.backup(fresh, true);
  } finally {
    await file.close();
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
