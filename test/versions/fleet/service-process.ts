import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** This version's checkout. */
export const HERE = fileURLToPath(new URL("../../..", import.meta.url));

/** A service of any version as a process. */
export interface ServiceProcess {
  url: string;
  /** What it said, stdout and stderr. */
  said(): string;
  /** SIGTERM; resolves when it has ended. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill9(): Promise<void>;
}

/** How a checkout's command line is run. */
const FROM_SOURCES = ["--import", "tsx", "src/cli/chat-agent.ts"];
export const AS_BUILT = ["dist/src/cli/chat-agent.js"];

/** `chat-agent serve` of a checkout. With `nowMs` its clock begins there. */
export async function startServe(
  checkout: string,
  env: Record<string, string>,
  nowMs?: number,
  command: readonly string[] = FROM_SOURCES,
): Promise<ServiceProcess> {
  const clock = fileURLToPath(new URL("../set-clock.mjs", import.meta.url));
  const withClock = nowMs === undefined ? [] : ["--import", clock];
  const child = spawn(process.execPath, [...withClock, ...command, "serve"], {
    cwd: checkout,
    env: { ...environment(), PORT: "0", ...env, CLOCK_AT_MS: String(nowMs ?? "") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text: Buffer) => (said += text.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      said += `${line}\n`;
      const listening = /"url":"([^"]+)"/.exec(line)?.[1];
      if (listening !== undefined) resolve(listening);
    });
    child.once("close", (code) => reject(new Error(`Cannot start a service: exit code ${code}, ${said}`)));
  });
  return {
    url,
    said: () => said,
    stop: () => end(child, "SIGTERM"),
    kill9: () => end(child, "SIGKILL"),
  };
}

/** What a command of a checkout's command line prints. */
export async function runCli(
  checkout: string,
  env: Record<string, string>,
  args: readonly string[],
  command: readonly string[] = FROM_SOURCES,
): Promise<string> {
  const run = promisify(execFile)(process.execPath, [...command, ...args], {
    cwd: checkout,
    env: { ...environment(), ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return (await run).stdout;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

/** Nothing of this process' own settings: they would be a service's. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env;
  return { PATH, ...(TMPDIR === undefined ? {} : { TMPDIR }) };
}
