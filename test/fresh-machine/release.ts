import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openMachine } from "./machine.ts";
import type { Debian, Machine } from "./machine.ts";
import { GREETS, serves } from "./step.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const NODES = ["20", "22", "24", "26"] as const;
const DEBIANS = ["12", "13"] as const;
const USERS = ["visitor", "root"] as const;
const ROOT_HOME = "/root/fresh";

/** One of the ten lines. */
interface Line {
  what: string;
  /** Empty: all is well. */
  troubles: string[];
  seconds: number;
}

/**
 * `npm run fresh-machine -- --release`: what a version must do before it is one. The package is packed once, linted, and installed on bare
 * Debian 12 and 13, by Node 20 to 26, as a user and as root; the checkout likewise, by `npm ci && npm start`; what is installed starts
 * and answers without a network. Then `npm test`, so many times in a row, each in a clone of its own. Answers whether all is well, told in
 * ten lines.
 */
export async function tryRelease({ tests }: { tests: number }): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  const lines: Line[] = [];
  const add = (line: Line) => {
    lines.push(line);
    tell(line);
  };
  try {
    const { line, packed } = packedPackage(folder);
    add(line);
    if (packed !== null) for (const debian of DEBIANS) await tryOn(debian, packed, add);
    add(testedTimes(tests, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log("\n");
  for (const line of lines) tell(line);
  return lines.every(({ troubles }) => troubles.length === 0);
}

function tell({ what, troubles, seconds }: Line): void {
  const outcome = troubles.length === 0 ? "ok    " : "FAILED";
  console.log(`${outcome} ${`${seconds.toFixed(0)} s`.padStart(7)}  ${[what, ...troubles].join("; ")}`);
}

/** Packs it, and has it looked at by those who know what packages must be. */
function packedPackage(folder: string): { line: Line; packed: string | null } {
  const began = Date.now();
  const troubles: string[] = [];
  const does = (name: string, command: string, args: string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: "utf8" });
    if (status !== 0) troubles.push(`${name}: ${lastLines(stdout + stderr)}`);
  };
  does("npm pack", "npm", ["pack", "--silent", "--pack-destination", folder]);
  const name = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  const packed = name === undefined ? null : join(folder, name);
  if (packed !== null) {
    does("publint", "npx", ["-y", "publint", packed, "--strict"]);
    // Modules alone: Node has required them since 20.19.
    does("attw", "npx", ["-y", "@arethetypeswrong/cli", packed, "--profile", "esm-only"]);
    does("npm publish", "npm", ["publish", "--dry-run", "--tag", "next", packed]);
  }
  const line = {
    what: `${name ?? "no package"}: packed, publint, types, publish --dry-run`,
    troubles,
    seconds: since(began),
  };
  return { line, packed };
}

async function tryOn(debian: Debian, packed: string, add: (line: Line) => void): Promise<void> {
  const machine = openMachine(null, debian);
  try {
    for (const node of NODES) {
      const began = Date.now();
      machine.useNode(nodeBinary(node));
      const troubles = [];
      for (const user of USERS) troubles.push(...(await tryAs(machine, { user, packed })));
      const what = `Debian ${debian}, Node ${node}, as user and root: the package, and npm ci && npm start, offline after it`;
      add({ what, troubles, seconds: since(began) });
    }
  } finally {
    machine.remove();
  }
}

async function tryAs(
  machine: Machine,
  { user, packed }: { user: (typeof USERS)[number]; packed: string },
): Promise<string[]> {
  const isRoot = user === "root";
  const who = isRoot ? { as: "root", home: ROOT_HOME } : {};
  machine.put(packed, "/tmp/package.tgz");
  machine.checkOut("checkout", ...(isRoot ? (["root"] as const) : []));
  const places = [
    {
      name: "package",
      installs: "rm -rf $HOME/global && npm i -g --no-audit --no-fund --prefix $HOME/global /tmp/package.tgz",
      starts: "env PATH=$HOME/global/bin:$PATH DATA_DIR=$HOME/packed chat-agent serve",
      folder: "",
    },
    { name: "checkout", installs: "npm ci --no-audit --no-fund", starts: "npm start", folder: "checkout" },
  ];
  const troubles: string[] = [];
  for (const { name, installs, starts, folder } of places) {
    const installed = await machine.run(installs, { ...who, folder });
    const ran =
      installed.code === 0 ? await machine.run(serves(starts), { ...who, folder, offline: true }) : installed;
    const missing = GREETS.filter((text) => !ran.said.includes(text));
    if (ran.code !== 0 || missing.length > 0) troubles.push(`${user}, ${name}: ${lastLines(ran.said)}`);
  }
  return troubles;
}

/** Each in a clone of its own, in a row. */
function testedTimes(times: number, folder: string): Line {
  const began = Date.now();
  const troubles: string[] = [];
  const passed: string[] = [];
  for (let nth = 1; nth <= times; nth += 1) {
    const clone = join(folder, `clone-${nth}`);
    execFileSync("git", ["clone", "--quiet", root, clone]);
    const { status, stdout, stderr } = spawnSync("sh", ["-c", "npm ci --no-audit --no-fund && npm test"], {
      cwd: clone,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    // eslint-disable-next-line no-control-regex -- colours
    const said = (stdout + stderr).replaceAll(/\u001b\[[0-9;]*m/g, "");
    if (status !== 0) troubles.push(`the ${nth}. time: ${failedTests(said) || lastLines(said)}`);
    passed.push(/^ *Tests .*?(\d+ passed)/m.exec(said)?.[1] ?? "no test");
    rmSync(clone, { recursive: true, force: true });
  }
  return {
    what: `npm ci && npm test in ${times} fresh clones: ${passed.join(", ")}`,
    troubles,
    seconds: since(began),
  };
}

function nodeBinary(version: string): string {
  return execFileSync("npx", ["-y", "-p", `node@${version}`, "node", "-p", "process.execPath"], {
    encoding: "utf8",
  }).trim();
}

/** Each test that failed, and where; "" if none did. */
function failedTests(said: string): string {
  const told = said.match(/^ *(?:FAIL|❯ test\/\S+:\d+:\d+).*$/gm) ?? [];
  return told.map((line) => line.trim()).join(" | ");
}

function lastLines(said: string): string {
  return said.trim().split("\n").slice(-3).join(" | ").slice(0, 400);
}

function since(beganMs: number): number {
  return (Date.now() - beganMs) / 1000;
}
