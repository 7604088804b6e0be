import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Each bundle by what it is made of, and a file that its build writes. */
const BUNDLES = [
  {
    build: "src/widget/build.mjs",
    sources: ["src/widget", "machines/line.ts"],
    made: "dist/widget/manifest.json",
  },
  { build: "src/demo/build.mjs", sources: ["src/demo"], made: "dist/demo/shop.js" },
  { build: "src/inspector/build.mjs", sources: ["src/inspector"], made: "dist/inspector/page.js" },
];

/** Before any test: makes the browser's files in dist/ anew where the sources are newer. */
export function setup(): void {
  for (const { build, sources, made } of BUNDLES) {
    if (changedAtMs(made) > Math.max(...["package.json", ...sources].map(changedAtMs))) continue;
    execFileSync(process.execPath, [join(root, build)], { stdio: "inherit" });
  }
}

/** When the file, or the newest file of the folder, was written; 0 where there is none. */
function changedAtMs(path: string): number {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(0, ...readdirSync(join(root, path)).map((name) => changedAtMs(join(path, name))));
}
