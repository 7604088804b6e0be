import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const packageJson = z.object({ version: z.string() });

/** The version of package.json, which is above this file, however deep it was built into. */
export function productVersion(): string {
  for (let folder = new URL("../", import.meta.url); ; folder = new URL("../", folder)) {
    const file = new URL("package.json", folder);
    if (existsSync(file)) return packageJson.parse(JSON.parse(readFileSync(file, "utf8"))).version;
    if (folder.pathname === "/") throw new Error("Cannot tell the version: there is no package.json");
  }
}
