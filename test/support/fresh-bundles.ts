import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { isStale, root } from "./changed-at.ts";

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
    if (isStale(made, sources)) execFileSync(process.execPath, [join(root, build)], { stdio: "inherit" });
  }
}
