import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const sources = fileURLToPath(new URL(".", import.meta.url));
/** Beside the packages of the repository, which a test has no use for: out of the way of everything that looks for files. */
const installed = fileURLToPath(new URL("../../../node_modules/.front-ends", import.meta.url));

const NPM_INSTALL = [
  "install",
  "--loglevel=error",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--ignore-scripts",
];

/** The packages of a front end that is too large for everybody's `npm ci`, installed once. Answers the folder that they resolve in. */
export function installFrontEnd(name: "assistant-ui" | "copilotkit"): string {
  const to = join(installed, name);
  const mark = join(to, ".installed");
  const wanted = readFileSync(join(sources, name, "package.json"), "utf8");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return to;
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  cpSync(join(sources, name, "package.json"), join(to, "package.json"));
  const env = { ...process.env, DO_NOT_TRACK: "1", SCARF_ANALYTICS: "false" };
  execFileSync("npm", NPM_INSTALL, { cwd: to, env, stdio: ["ignore", "ignore", "inherit"] });
  writeFileSync(mark, wanted);
  return to;
}
