import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ORIGIN, PUBLISHABLE_KEY, SECRET_KEY, SLUG, TRANSPORT_KEY } from "./askings.ts";
import { CannotMeasure } from "./cannot-measure.ts";
import { SERVER_CORE } from "./cores.ts";
import { pause } from "./load.ts";
import { familyOf } from "./usage.ts";

/** A server under test, in a process of its own, on the server's core. */
export interface BenchServer {
  port: number;
  pid: number;
  /** From the start of the process to the line that says where it listens. */
  startMs: number;
  stop(): Promise<void>;
}

/** How often to check whether a server has started. */
const LOOK_MS = 5;

const NEVER_REACHED = "100000000";

/** The environment of the service and the floor. The rate limits are out of reach, as the load comes from one address. */
export function environment(options: {
  listener: "uws" | "node";
  /** null: the embedded store, in a folder of its own. */
  redisUrl: string | null;
  dataDir: string;
  modelUrl: string;
}): NodeJS.ProcessEnv {
  const { listener, redisUrl, dataDir, modelUrl } = options;
  const channelsFile = join(dataDir, "channels.json");
  writeFileSync(
    channelsFile,
    JSON.stringify({
      channels: [
        {
          slug: SLUG,
          kind: "web",
          publishableKey: PUBLISHABLE_KEY,
          secretKey: SECRET_KEY,
          allowedOrigins: [ORIGIN],
        },
      ],
    }),
  );
  return {
    PORT: "0",
    DATA_DIR: dataDir,
    CHANNELS_FILE: channelsFile,
    HARNESS_API_KEY: TRANSPORT_KEY,
    LISTENER: listener,
    OPENAI_BASE_URL: modelUrl,
    OPENAI_MODEL: "bench",
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    WIDGET_MESSAGES_PER_MINUTE: NEVER_REACHED,
    WIDGET_IP_MESSAGES_PER_MINUTE: NEVER_REACHED,
    WIDGET_THREADS_PER_HOUR: NEVER_REACHED,
    WIDGET_VISITORS_PER_HOUR_PER_IP: NEVER_REACHED,
    WIDGET_READS_PER_MINUTE: NEVER_REACHED,
    WIDGET_IP_READS_PER_MINUTE: NEVER_REACHED,
  };
}

export const SERVICE = [fileURLToPath(import.meta.resolve("../../src/cli/chat-agent.js")), "serve"];
/** The service's command in another checkout, which must be built. */
export const serviceIn = (checkout: string) => [join(checkout, "dist/src/cli/chat-agent.js"), "serve"];
export const FLOOR = [fileURLToPath(import.meta.resolve("../floor.js"))];

/**
 * Starts plain Node with these arguments; resolves when its log names the address that it listens on. `node` and `cwd`
 * are this process's own unless given.
 */
export async function startServer(
  args: string[],
  env: NodeJS.ProcessEnv,
  { node = process.execPath, cwd }: { node?: string; cwd?: string } = {},
): Promise<BenchServer> {
  // The log goes into a file: reading it from a pipe would take time from the load.
  const folder = temporaryFolder();
  const logFile = join(folder.path, "log");
  const log = openSync(logFile, "w");
  const nodeArgs = process.env["BENCH_NODE_ARGS"]?.split(" ") ?? [];
  const beganAt = performance.now();
  const child = spawn("taskset", ["--cpu-list", String(SERVER_CORE), node, ...nodeArgs, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  endWithThisProcess(child);
  const exit = once(child, "exit");
  let port: number | null = null;
  while (port === null) {
    if (child.exitCode !== null) {
      const text = readFileSync(logFile, "utf8").trimEnd();
      folder.remove();
      throw new CannotMeasure(`Cannot start the server. It said:\n${text}`);
    }
    await pause(LOOK_MS);
    const found = /"url":"http:\/\/[^:"]+:(\d+)"/.exec(readFileSync(logFile, "utf8"))?.[1];
    port = found === undefined ? null : Number(found);
  }
  return {
    port,
    pid: child.pid ?? 0,
    startMs: performance.now() - beganAt,
    async stop() {
      // Profiles are written only at a clean stop.
      if (nodeArgs.length > 0) child.kill("SIGINT");
      else for (const pid of familyOf(child.pid ?? 0)) process.kill(pid, "SIGKILL");
      await exit;
      folder.remove();
    },
  };
}

const children = new Set<ChildProcess>();

/** Stops the servers with the benchmark, however that is stopped. */
function endWithThisProcess(child: ChildProcess): void {
  if (children.size === 0 && process.listenerCount("SIGTERM") === 0) {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
    process.once("exit", () => {
      for (const one of children) {
        for (const pid of familyOf(one.pid ?? 0)) process.kill(pid, "SIGKILL");
      }
    });
  }
  children.add(child);
  child.once("exit", () => children.delete(child));
}

/** A temporary folder; `remove` deletes it. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "chat-agent-bench-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
