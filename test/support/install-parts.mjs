// What the tests need besides Node: a Redis server and a Chromium. Installs what is missing where that is possible
// (root on Debian or Ubuntu); otherwise says in one sentence which package it takes.
import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const parts = [
  { name: "a Redis server", package: "redis-server", commands: ["redis-server"] },
  {
    name: "Chromium",
    package: "chromium",
    commands: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
  },
];

const missing = parts.filter((part) => !part.commands.some(isOnPath));
if (missing.length > 0) {
  const packages = missing.map((part) => part.package);
  const mayInstall = process.getuid?.() === 0 && existsSync("/etc/debian_version") && isOnPath("apt-get");
  if (!mayInstall) stop("and only root on Debian or Ubuntu can have them installed here");
  try {
    console.log(`Installing ${packages.join(" and ")} for the tests`);
    aptGet("update", "-qq");
    aptGet("install", "-y", "-qq", "--no-install-recommends", ...packages);
  } catch (error) {
    stop(`and apt-get failed (${error.message.split("\n")[0]})`);
  }
  if (missing.some((part) => !part.commands.some(isOnPath))) stop("and apt-get did not bring them");
}

/** @param {string} why */
function stop(why) {
  const names = missing.map((part) => `${part.name} (package ${part.package})`).join(" and ");
  console.error(`Cannot run the tests: ${names} must be installed, ${why}`);
  process.exit(1);
}

/** @param {string[]} args */
function aptGet(...args) {
  execFileSync("apt-get", args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}

/** @param {string} command */
function isOnPath(command) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
