/**
 * `tsx test/support/servers/native-listener.ts COMMAND …` runs a command with a `node` on its PATH that loads uWebSockets.js: this
 * one, or, where the system's glibc is too old for that, this one beside the libraries of Debian 13. They are fetched as
 * apt-get does it, without root, and kept in the user's cache. Where that is not possible it says so, and runs nothing.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { mayBeReplaced, whyNoNativeBuild } from "../../../src/listeners/uws/native-build.ts";
import { pathOfCommand } from "../programs.ts";

const PACKAGES = ["libc6", "libstdc++6", "libgcc-s1"];
const SOURCE =
  "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main";

const missing = whyNoNativeBuild();
if (missing !== null && mayBeReplaced(missing)) skip(missing);
const scratch = mkdtempSync(join(tmpdir(), "native-listener-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
process.exitCode = run(missing === null ? dirname(process.execPath) : besideNewerLibraries());

function run(nodeFolder: string): number {
  const [command = "node", ...args] = process.argv.slice(2);
  const PATH = `${nodeFolder}${delimiter}${process.env["PATH"] ?? ""}`;
  return spawnSync(command, args, { stdio: "inherit", env: { ...process.env, PATH } }).status ?? 1;
}

/** A folder with a `node` that the loader of those libraries starts. */
function besideNewerLibraries(): string {
  const libraries = fetchLibraries();
  const loader = readdirSync(libraries).find((name) => name.startsWith("ld-linux"));
  if (loader === undefined) throw new Error(`Cannot go on: there is no loader in ${libraries}`);
  const node = join(scratch, "node");
  const itself = join(scratch, "itself.cjs");
  // Else it is the loader, and a process that is started by it gets no libraries.
  writeFileSync(itself, `process.execPath = ${JSON.stringify(node)};\n`);
  const parts = [join(libraries, loader), "--library-path", libraries, process.execPath, "--require", itself];
  writeFileSync(node, `#!/bin/sh\nexec ${parts.map((part) => `'${part}'`).join(" ")} "$@"\n`);
  chmodSync(node, 0o755);
  return scratch;
}

function fetchLibraries(): string {
  const triplet = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "chat-agent-service");
  const kept = join(cache, `debian-13-${triplet}`);
  const libraries = join(kept, "usr/lib", triplet);
  if (existsSync(libraries)) return libraries;
  for (const command of ["apt-get", "dpkg-deb"]) {
    if (pathOfCommand(command) === null) skip(`${missing}, and without ${command} none is fetched`);
  }
  console.log(`Fetching ${PACKAGES.join(", ")} of Debian 13 into ${kept}`);
  mkdirSync(cache, { recursive: true });
  const unpacked = mkdtempSync(join(cache, "unpacked-"));
  try {
    aptGet("update", "-qq");
    aptGet("download", "-qq", ...PACKAGES);
    for (const name of readdirSync(scratch).filter((file) => file.endsWith(".deb"))) {
      execFileSync("dpkg-deb", ["--extract", join(scratch, name), unpacked]);
    }
  } catch (error) {
    rmSync(unpacked, { recursive: true, force: true });
    skip(
      `${missing}, and none can be fetched: ${error instanceof Error ? error.message.split("\n", 1)[0] : String(error)}`,
    );
  }
  rmSync(kept, { recursive: true, force: true });
  renameSync(unpacked, kept);
  return libraries;
}

function aptGet(...args: string[]): void {
  writeFileSync(join(scratch, "sources.list"), `${SOURCE}\n`);
  mkdirSync(join(scratch, "lists/partial"), { recursive: true });
  mkdirSync(join(scratch, "cache/archives/partial"), { recursive: true });
  const options = {
    "Dir::Etc::sourcelist": join(scratch, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::State::lists": join(scratch, "lists"),
    "Dir::Cache": join(scratch, "cache"),
    "Acquire::Languages": "none",
    "APT::Sandbox::User": "root",
  };
  const given = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  execFileSync("apt-get", [...given, ...args], { cwd: scratch, stdio: ["ignore", "ignore", "inherit"] });
}

function skip(why: string): never {
  console.log(`Skipped: ${why}`);
  process.exit();
}
