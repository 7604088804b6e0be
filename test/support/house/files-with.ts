import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The files below a folder in which a text stands, in whatever else they hold. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}
