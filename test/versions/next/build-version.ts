import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { HERE } from "../fleet/service-process.ts";
import type { Change } from "./changes.ts";

const SOURCES = ["src", "machines", "package.json", "package-lock.json", "tsconfig.json"];

/** A copy of this checkout, changed and built: its folder. Throws where a change does not apply any more. */
export function buildVersion(changes: readonly Change[] = []): string {
  const folder = emptyFolder();
  for (const name of SOURCES) cpSync(join(HERE, name), join(folder, name), { recursive: true });
  symlinkSync(join(HERE, "node_modules"), join(folder, "node_modules"));
  for (const change of changes) apply(change, folder);
  execFileSync(process.execPath, ["src/build.mjs"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return folder;
}

function apply({ file, from, to }: Change, folder: string): void {
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  if (text.split(from).length !== 2) {
    throw new Error(`Cannot make the next version: ${JSON.stringify(from)} does not stand in ${file} once`);
  }
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
}
