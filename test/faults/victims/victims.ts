import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ROOMY_LIMITS } from "../../support/servers/service.ts";
import { REACHED } from "../crash/crash-store.ts";
import { TRANSPORT_KEY } from "../fault-channels.ts";
import type { VictimSettings } from "./victim.ts";

/** A process of the service (victim.ts) that faults are done to. */
export interface Victim {
  url: string;
  pid: number;
  /** Its exit code; null where a signal ended it. */
  exit: Promise<number | null>;
  readonly alive: boolean;
  /** Its crash point was reached. */
  readonly reachedCrash: boolean;
  /** What it logged. */
  log: string[];
  /** SIGKILL; resolves when it is dead. */
  kill9(): Promise<void>;
  /** SIGSTOP: connections stay open, and nothing answers. */
  pause(): void;
  resume(): void;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const alive = new Set<ChildProcess>();
let built: Promise<string> | null = null;
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** Starts one, on any free port unless `env` names one; resolves when it listens. */
export async function startVictim(env: NodeJS.ProcessEnv, settings: VictimSettings = {}): Promise<Victim> {
  const script = await (built ??= bundle());
  const child = spawn(process.execPath, [script], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      MCP_PRIVATE: "on",
      PORT: "0",
      LOG_LEVEL: "warn",
      HARNESS_API_KEY: TRANSPORT_KEY.reveal(),
      ...ROOMY_LIMITS,
      ...env,
      VICTIM: JSON.stringify(settings),
    },
    // It ends with this process: when nobody holds the other end of its stdin any more.
    stdio: ["pipe", "pipe", "inherit"],
  });
  alive.add(child);
  const exit = once(child, "close").then(([code]) => {
    alive.delete(child);
    return code as number | null;
  });
  const log: string[] = [];
  let reachedCrash = false;
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /"victimUrl":"([^"]+)"/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
      else if (line === REACHED) reachedCrash = true;
      else log.push(line);
    });
    void exit.then((code) => reject(new Error(`Cannot start a victim: exit ${code} ${log.join(" ")}`)));
  });

  return {
    url,
    pid: child.pid ?? 0,
    exit,
    log,
    get alive() {
      return alive.has(child);
    },
    get reachedCrash() {
      return reachedCrash;
    },
    async kill9() {
      child.kill("SIGKILL");
      await exit;
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    terminate() {
      child.kill("SIGTERM");
      return exit;
    },
  };
}

/** Ends every victim that is left. */
export async function killVictims(): Promise<void> {
  const ends = [...alive].map((child) => once(child, "exit"));
  for (const child of alive) child.kill("SIGKILL");
  await Promise.all(ends);
}

/** One file, from the sources: starts in a third of the time that compiling them on the way takes. */
async function bundle(): Promise<string> {
  // Under the root, where imports of packages are found.
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "victim-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: [join(root, "test/faults/victims/victim.ts")],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
  });
  cpSync(join(root, "src/stores/engines/redis/apply.lua"), join(folder, "apply.lua"));
  return join(folder, "victim.mjs");
}
