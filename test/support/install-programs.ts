/**
 * What the tests need besides Node: a Redis server and a Chromium. Installs what is missing where that is possible (root
 * on Debian or Ubuntu). Else it says how to install it, and which tests are skipped without it; with `--all` it fails.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { PROGRAMS, pathOf, pathOfCommand, pathOfPageCache } from "./programs.ts";
import type { Program } from "./programs.ts";

const isAll = process.argv.includes("--all");
if (mayInstall()) {
  // Not on a machine that has another one: nobody asked for it there.
  if (isAll || missing().includes("browser")) install("chromium-headless-shell");
  if (isAll && pathOfPageCache() === null) install("chromium");
  for (const program of missing()) install(PROGRAMS[program].package);
}
const left = missing();
if (left.length > 0) {
  const packages = left.map((program) => PROGRAMS[program].package).join(" ");
  console.error(`Missing for the tests, install with: sudo apt-get install -y ${packages}`);
  if (isAll) process.exit(1);
  console.error(
    `Skipped meanwhile, and counted as skipped: the tests of the project ${left.join(" and of ")}`,
  );
}

function missing(): Program[] {
  return (["redis", "browser"] as const).filter((program) => pathOf(program) === null);
}

function mayInstall(): boolean {
  const isRoot = process.getuid?.() === 0;
  return isRoot && existsSync("/etc/debian_version") && pathOfCommand("apt-get") !== null;
}

function install(name: string): void {
  if (pathOfCommand(name) !== null) return;
  console.log(`Installing ${name} for the tests`);
  try {
    aptGet("update", "-qq");
    aptGet("install", "-y", "-qq", "--no-install-recommends", name);
  } catch (error) {
    console.error(`apt-get failed: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
  }
}

function aptGet(...args: string[]): void {
  execFileSync("apt-get", args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}
