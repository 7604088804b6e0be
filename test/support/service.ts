import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Line } from "../../machines/line.ts";
import { systemClock } from "../../src/clock.ts";
import type { Clock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import type { Config } from "../../src/config.ts";
import { createDefaultChannels } from "../../src/installation/default-channels.ts";
import { createLog } from "../../src/log.ts";
import type { Model } from "../../src/model.ts";
import { openModel } from "../../src/start/open-model.ts";
import { Secret } from "../../src/secret.ts";
import { startService } from "../../src/service.ts";
import type { Service, ServiceDependencies } from "../../src/service.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "./data-dir.ts";

/** The transport key of every service that a test starts. */
export const TEST_KEY = "test-transport-key";

export interface TestService extends Service {
  /** What the log said. */
  logged: string[];
}

/**
 * A whole service in this process: port 0, the embedded store in a folder of its own and the demo model, unless others
 * are given; a `cli` channel. It ends with the test. What is given stays open, and is its giver's to close.
 */
export async function startTestService(
  options: {
    config?: Partial<Config>;
    store?: Store;
    model?: Model;
    clock?: Clock;
    processServers?: NonNullable<ServiceDependencies["processServers"]>;
    extraRoutes?: NonNullable<ServiceDependencies["extraRoutes"]>;
  } = {},
): Promise<TestService> {
  const config = { ...readConfig({}), port: 0, ...options.config };
  const clock = options.clock ?? systemClock;
  const store = options.store ?? (await openEmbeddedStore({ dataDir: temporaryFolder(), clock }));
  const model = options.model ?? (await openModel(config));
  const logged: string[] = [];
  const harnessApiKey = new Secret(TEST_KEY);
  const log = createLog({
    level: "info",
    secrets: [harnessApiKey],
    destination: { write: (line) => void logged.push(line) },
  });
  await createDefaultChannels(store, null);
  const { processServers = {}, extraRoutes = () => [] } = options;
  const service = await startService({
    config,
    harnessApiKey,
    store,
    model,
    clock,
    log,
    processServers,
    extraRoutes,
  });
  onTestFinished(async () => {
    await service.stop(0);
    if (options.model === undefined) await model.close();
    if (options.store === undefined) await store.close();
  });
  return { ...service, logged };
}

export interface ServiceProcess {
  url: string;
  /** Lines of stdout and the text of stderr so far. */
  output: { stdout: string[]; stderr: string };
  kill(signal: NodeJS.Signals): void;
  /** The exit code; null where a signal ended it. */
  exit: Promise<number | null>;
}

/** The service as `npm start` runs it, as a process of its own, from the sources. Killed with the test. */
export async function startServiceProcess(env: NodeJS.ProcessEnv): Promise<ServiceProcess> {
  const started = spawnCommand(["serve"], { PORT: "0", ...env });
  const url = await started.listening;
  return { ...started, url };
}

/** Any command of chat-agent as a process of its own. */
export function spawnCommand(args: string[], env: NodeJS.ProcessEnv) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", "src/cli/chat-agent.ts", ...args], {
    cwd: root,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: [] as string[], stderr: "" };
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));

  // What comes last tells of everything before it: the exit waits for the streams' end.
  const exit = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      output.stdout.push(line);
      const url = /"url":"([^"]+)"/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
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
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
  };
}

/** POST /v1/messages, read to its end. */
export async function sendMessage(
  url: string,
  message: { threadId: string; userId: string; text: string; channel?: string },
  key = TEST_KEY,
): Promise<{ status: number; lines: Line[]; text: string }> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(message),
  });
  const body = await response.text();
  if (response.status !== 200) return { status: response.status, lines: [], text: body };
  const lines = body
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return { status: 200, lines, text: lines.map((line) => (line.type === "delta" ? line.text : "")).join("") };
}
