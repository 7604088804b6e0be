import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pathOfCommand } from "../support/programs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Whose libraries the native listener takes, and the one before. */
const SUITES = { "13": "trixie", "12": "bookworm" } as const;
/** Besides what a bare Debian has: what the line to paste needs, and what Node 26 does. */
const INCLUDED = "ca-certificates,curl,libatomic1";
const USER = "visitor";
const HOME = `/home/${USER}`;
/** Of root, where it installs for itself. */
const ROOT_HOME = "/root/fresh";

export type Debian = keyof typeof SUITES;

export function isDebian(version: string): version is Debian {
  return version in SUITES;
}

/** A bare Debian in a folder, with Node and npm, and one unprivileged user. */
export interface Machine {
  /** Copies the checkout's files, as git knows them, into a folder of the user's home, or of root's. */
  checkOut(name: string, as?: "root"): void;
  /** Copies a file of this machine there. */
  put(file: string, name: string): void;
  /** Another Node, by the path of its binary, in the place of the one that it has. */
  useNode(binary: string): void;
  /** Runs a bash script as the user, in a folder of their home. Whatever it starts ends with it. */
  run(script: string, options?: RunOptions): Promise<Ran>;
  remove(): void;
}

export interface RunOptions {
  folder?: string;
  env?: Record<string, string>;
  /** Folders of the user's home that nobody can write in. */
  readOnly?: string[];
  /** Instead of the unprivileged user, whose home it is not. */
  as?: string;
  /** Of that one; /tmp by default. */
  home?: string;
  /** The whole machine is read-only, but for these, which are empty. */
  writable?: string[];
  /** There is no network but the machine's own loopback. */
  offline?: boolean;
}

export interface Ran {
  code: number | null;
  /** What it said, on stdout and stderr. */
  said: string;
  seconds: number;
}

/** `kept`: a folder to make it in, or that has one of an earlier time; it stays. */
export function openMachine(kept: string | null, debian: Debian): Machine {
  const path = kept ?? mkdtempSync("/var/tmp/fresh-machine-");
  const versionFile = join(path, "etc/debian_version");
  if (!existsSync(versionFile)) {
    execFileSync("debootstrap", ["--variant=minbase", `--include=${INCLUDED}`, SUITES[debian], path], {
      stdio: "inherit",
    });
  }
  // A temporary folder is its maker's alone; this one is a machine's root.
  chmodSync(path, 0o755);
  const version = readFileSync(versionFile, "utf8").trim();
  if (!version.startsWith(`${debian}.`)) throw new Error(`Cannot go on: Debian ${version} is in ${path}`);
  const home = join(path, HOME);
  if (!existsSync(home)) inside(path, ["useradd", "--create-home", "--shell", "/bin/bash", USER]);
  // Everything of an earlier time goes.
  rmSync(home, { recursive: true, force: true });
  inside(path, ["install", "-d", "-o", USER, "-g", USER, HOME]);
  installNode(path);
  inside(path, ["install", "-d", "-m", "700", ROOT_HOME]);
  for (const file of ["/etc/resolv.conf", process.env["NODE_EXTRA_CA_CERTS"] ?? ""]) {
    if (file === "") continue;
    mkdirSync(dirname(join(path, file)), { recursive: true });
    copyFileSync(file, join(path, file));
  }
  // The installer of Debian writes it, and debootstrap does not.
  writeFileSync(join(path, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
  return {
    checkOut: (name, as) => checkOut(path, as ? `${ROOT_HOME}/${name}` : `${HOME}/${name}`, as ?? USER),
    put: (file, name) => copyFileSync(file, join(path, name)),
    useNode(binary) {
      const node = join(path, "usr/local/bin/node");
      // It may be running.
      rmSync(node, { force: true });
      copyFileSync(binary, node);
      chmodSync(node, 0o755);
    },
    run: (script, options = {}) => run(path, script, options),
    remove() {
      if (kept === null) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** This Node and this npm, where an installation from nodejs.org puts them. */
function installNode(path: string): void {
  const npm = pathOfCommand("npm");
  if (npm === null) throw new Error("Cannot go on: there is no npm");
  const local = join(path, "usr/local");
  copyFileSync(process.execPath, join(local, "bin/node"));
  chmodSync(join(local, "bin/node"), 0o755);
  const folder = join(local, "lib/node_modules/npm");
  rmSync(folder, { recursive: true, force: true });
  cpSync(dirname(dirname(realpathSync(npm))), folder, { recursive: true, dereference: true });
  for (const name of ["npm", "npx"]) {
    rmSync(join(local, "bin", name), { force: true });
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, "bin", name));
  }
}

function checkOut(path: string, folder: string, owner: string): void {
  rmSync(join(path, folder), { recursive: true, force: true });
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  });
  for (const file of files.toString().split("\0")) {
    if (file === "" || !existsSync(join(root, file))) continue;
    const copy = join(path, folder, file);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(join(root, file), copy);
  }
  inside(path, ["chown", "-R", `${owner}:${owner}`, folder]);
}

function inside(path: string, command: string[]): void {
  execFileSync("chroot", [path, ...command], { stdio: ["ignore", "ignore", "inherit"] });
}

/** Mounts and processes are of a namespace of their own: when the script ends, none of them is left. */
function run(path: string, script: string, options: RunOptions): Promise<Ran> {
  const { folder = "", env = {}, readOnly = [], as = USER, writable, offline = false } = options;
  const home = as === USER ? HOME : (options.home ?? "/tmp");
  const mounts = [
    ...(offline ? ["ip link set lo up"] : []),
    ...(writable === undefined ? [] : [`mount --bind ${path} ${path}`, `mount -o remount,ro,bind ${path}`]),
    ...(writable ?? []).map((place) => `mount -t tmpfs -o mode=1777 tmpfs ${path}${place}`),
    `mount -t proc proc ${path}/proc`,
    `mount --rbind /dev ${path}/dev`,
    ...readOnly.flatMap((name) => {
      const place = `${path}${HOME}/${name}`;
      return [`mount --bind ${place} ${place}`, `mount -o remount,ro,bind ${place}`];
    }),
  ];
  const variables = {
    HOME: home,
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    ...given("NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "NO_PROXY"),
    ...env,
  };
  const chroot = ["chroot", `--userspec=${as}:${as}`, path, "env", "-i"];
  const command = [...chroot, ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
  const scripted = [...command, "bash", "-c", `cd ${home}/${folder} && ${script}`];
  const network = offline ? ["--net"] : [];
  const setUp = ["unshare", ...network, "--mount", "--pid", "--fork", "--kill-child"];
  const began = Date.now();
  const child = spawn(
    "nice",
    ["-n", "10", ...setUp, "sh", "-c", `${mounts.join(" && ")} && exec "$@"`, "sh", ...scripted],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  return new Promise((resolve) =>
    child.once("close", (code) => resolve({ code, said, seconds: (Date.now() - began) / 1000 })),
  );
}

function given(...names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, process.env[name] ?? ""]).filter(([, value]) => value !== ""),
  );
}
