import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
export const COMMAND = "dist/src/cli/chat-agent.js";

/** The service as `npm start` runs it, as a process of its own. */
export interface ServiceProcess extends CommandProcess {
  url: string;
  /** Of the demo page; "" where there is none. */
  demoUrl: string;
}

/** Resolves when it listens, on any free port unless `env` names one; rejects where it ends before. */
export async function openServiceProcess(
  env: NodeJS.ProcessEnv,
  limits: Limits = {},
): Promise<ServiceProcess> {
  const opened = openCommand(["serve"], { PORT: "0", ...env }, limits);
  const { url, demoUrl = "" } = await opened.listening;
  return { ...opened, url, demoUrl };
}

/** The same, killed when the test is over. */
export async function startServiceProcess(
  env: NodeJS.ProcessEnv,
  limits: Limits = {},
): Promise<ServiceProcess> {
  const started = spawnCommand(["serve"], { PORT: "0", ...env }, limits);
  const { url, demoUrl = "" } = await started.listening;
  return { ...started, url, demoUrl };
}

export interface CommandProcess {
  input: NodeJS.WritableStream;
  /** Lines of stdout and the text of stderr so far. */
  output: { stdout: string[]; stderr: string };
  /** The exit code; null where a signal ended it. Everything that it wrote has come by then. */
  exit: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
  /** SIGKILL; resolves when it is dead. */
  close(): Promise<void>;
}

interface Limits {
  /** The command's file; without it as it was built here. */
  command?: string;
  /** In place of Node and that file. */
  runner?: string[];
  /** How many files it may have open. */
  descriptors?: number;
}

interface Listening {
  url: string;
  demoUrl?: string;
}

/** Any command of chat-agent, as it was built, killed when the test is over. */
export function spawnCommand(args: string[], env: NodeJS.ProcessEnv, limits: Limits = {}) {
  const opened = openCommand(args, env, limits);
  onTestFinished(() => opened.close());
  return opened;
}

function openCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
  { descriptors, command: file = COMMAND, runner = [process.execPath, file] }: Limits,
): CommandProcess & { listening: Promise<Listening> } {
  const command = [...runner, ...args];
  const limited = ["bash", "-c", `ulimit -n ${descriptors}; exec "$@"`, "bash", ...command];
  const [program = "", ...rest] = descriptors === undefined ? command : limited;
  const child = spawn(program, rest, {
    cwd: root,
    env: { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output = { stdout: [] as string[], stderr: "" };
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const dead = once(child, "exit");
  // What comes last tells of everything before it: the exit waits for the streams' end.
  const exit = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));

  const listening = new Promise<Listening>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      output.stdout.push(line);
      if (!line.includes('"url":')) return;
      const told = JSON.parse(line) as Listening;
      resolve(told);
    });
    void exit.then((code) => reject(new Error(`Cannot start: exit code ${code}, ${output.stderr}`)));
  });
  // Commands that never listen are not waited for.
  listening.catch(() => {});
  return {
    input: child.stdin,
    output,
    exit,
    listening,
    kill: (signal) => void child.kill(signal),
    async close() {
      child.kill("SIGKILL");
      await dead;
    },
  };
}
