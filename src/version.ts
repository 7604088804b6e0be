import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The version in package.json, which stands above this file, as it is written and as it is built. */
export const VERSION = versionAbove(dirname(fileURLToPath(import.meta.url)));

function versionAbove(folder: string): string {
  const file = join(folder, "package.json");
  const known: unknown = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
  if (typeof known === "object" && known !== null && "name" in known && "version" in known) {
    if (known.name === "chat-agent-service" && typeof known.version === "string") return known.version;
  }
  if (dirname(folder) === folder) throw new Error("Cannot tell the version: there is no package.json");
  return versionAbove(dirname(folder));
}
