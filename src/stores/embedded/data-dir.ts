import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../errors.ts";

/** Makes the folder where it is missing. Throws the sentence that names DATA_DIR where this account may not write there. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const message = `Cannot write to DATA_DIR ${dataDir}: ${messageOf(cause)}; it takes a folder that this account may write`;
    throw new Error(message, { cause });
  }
}

/** Whether a start has made its store there. */
export function holdsStore(dataDir: string): boolean {
  return existsSync(join(dataDir, "store", "data.mdb"));
}
