import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "../../../errors.ts";

/** Makes the folder if it is missing. Throws the sentence that names DATA_DIR if this account may not write there. */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolders(resolve(dataDir));
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const message = `Cannot write to DATA_DIR ${dataDir}: ${whyNot(dataDir) ?? messageOf(cause)}; it takes a folder that this account may write`;
    throw new Error(message, { cause });
  }
}

/** One by one: Node's recursive mkdir never returns where the system denies an existing folder, as in /proc. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}

/** What is wrong with the lowest existing folder: on a read-only disk mkdir reports every folder as missing. */
function whyNot(dataDir: string): string | null {
  let folder = resolve(dataDir);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** True if a start has created its store there. */
export function holdsStore(dataDir: string): boolean {
  return existsSync(join(dataDir, "store", "data.mdb"));
}
