import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../../errors.ts";
import type { OutsideFiles } from "./outside-files.ts";

/** Files in a folder that every instance sees. A file is written under another name first, so none is ever read in half. */
export function folderOfFiles(folder: string): OutsideFiles {
  const at = (name: string) => join(folder, name);

  return {
    async put(name, bytes) {
      await mkdir(dirname(at(name)), { recursive: true, mode: 0o700 });
      await writeFile(`${at(name)}.part`, bytes, { mode: 0o600, flush: true });
      await rename(`${at(name)}.part`, at(name));
    },

    get: (name) => unlessMissing(readFile(at(name)), null),

    async move(from, to) {
      await mkdir(dirname(at(to)), { recursive: true, mode: 0o700 });
      await unlessMissing(rename(at(from), at(to)), undefined);
    },

    async removeBelow(prefix, olderThanMs) {
      if (olderThanMs === undefined) return rm(at(prefix), { recursive: true, force: true });
      for (const entry of await unlessMissing(readdir(at(prefix), { withFileTypes: true }), [])) {
        const name = `${prefix}${entry.name}`;
        if (entry.isDirectory()) await removeOld(name, olderThanMs);
      }
    },
  };

  async function removeOld(folderName: string, olderThanMs: number): Promise<void> {
    for (const name of await unlessMissing(readdir(at(folderName)), [])) {
      const path = join(at(folderName), name);
      const found = await unlessMissing(stat(path), null);
      if (found && found.mtimeMs < olderThanMs) await rm(path, { force: true });
    }
    // It stays while a file is in it.
    await rmdir(at(folderName)).catch(() => {});
  }
}

async function unlessMissing<Found, Missing>(
  found: Promise<Found>,
  missing: Missing,
): Promise<Found | Missing> {
  try {
    return await found;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return missing;
    throw error;
  }
}
