import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "../../errors.ts";

/** Makes the folder where it is missing. Throws the sentence that names DATA_DIR where this account may not write there. */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolders(resolve(dataDir));
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const message = `Cannot write to DATA_DIR ${dataDir}: ${whyNot(dataDir) ?? messageOf(cause)}; it takes a folder that this account may write`;
    throw new Error(message, { cause });
  }
}

/** One by one: Node's own recursive way never returns where the system says of a folder that is there that it is not, as in /proc. */
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

/** What is wrong with the lowest folder that is there: to mkdir, every folder on a read-only disk is one that is missing. */
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

/** Whether a start has made its store there. */
export function holdsStore(dataDir: string): boolean {
  return existsSync(join(dataDir, "store", "data.mdb"));
}
