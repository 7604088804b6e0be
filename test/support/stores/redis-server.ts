import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../servers/free-port.ts";

/** A real Redis of a test's own: a free port of this machine, a folder of its own, gone with the test. */
export interface RedisServer {
  url: string;
  port: number;
  /** Of the process that runs now. */
  readonly pid: number;
  dir: string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
  /** SIGKILL; the folder stays. */
  kill9(): Promise<void>;
  /** Starts it again on the same port and folder; a running one is killed first. */
  restart(): Promise<void>;
  readonly alive: boolean;
  /** Resolves when it has ended, by itself too. */
  ended(): Promise<void>;
  /** From now on none of its files grows beyond so many bytes, as on a full disk; null: as far as they like. */
  limitFiles(bytes: number | null): void;
  /** SIGSTOP: connections stay open, and nothing answers. */
  pause(): void;
  resume(): void;
}

/** Append-only, so that what was acknowledged outlives a SIGKILL; `args` come later, and win. */
export async function startRedis(
  options: {
    args?: string[];
    port?: number;
    /** `limitFiles` makes its writes fail; else that would kill it. */
    mayFill?: boolean;
  } = {},
): Promise<RedisServer> {
  const { mayFill = false } = options;
  const port = options.port ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), "chat-agent-redis-"));
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--save", ""];
  const args = [...settings, "--appendonly", "yes", ...(options.args ?? [])];
  const program = mayFill ? WITHOUT_SIGXFSZ : ["redis-server"];
  let child = await launch([...program, ...args], dir);

  const isAlive = () => child.exitCode === null && child.signalCode === null;

  async function ended() {
    if (isAlive()) await once(child, "exit");
  }

  async function kill9() {
    child.kill("SIGKILL");
    await ended();
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
    get pid() {
      return child.pid ?? 0;
    },
    get alive() {
      return isAlive();
    },
    kill9,
    ended,
    limitFiles(bytes) {
      const limit = `--fsize=${bytes ?? "unlimited"}:unlimited`;
      execFileSync("prlimit", ["--pid", String(child.pid), limit]);
    },
    async stop() {
      await kill9();
      rmSync(dir, { recursive: true, force: true });
    },
    async restart() {
      await kill9();
      child = await launch([...program, ...args], dir);
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}

/** Redis ignores no signal of a limit that is reached, and Node hands on none that it ignores itself. */
const WITHOUT_SIGXFSZ = ["sh", "-c", 'trap "" XFSZ; exec redis-server "$@"', "redis-server"];

/** Resolves when it takes connections and has read its data. */
async function launch([program = "", ...args]: string[], dir: string): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  outlive(child, dir);
  let said = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes("Ready to accept connections")) break;
  }
  if (!child.stdout.readable) throw new Error(`Cannot start redis-server: ${said}`);
  // After the loop: within it, this would have no effect, and a server whose words nobody reads stands still at last.
  child.stdout.resume();
  return child;
}

/**
 * However this process ends, also by SIGKILL, the server and its folder go with it: a shell of its own process group
 * waits for the end of its input, which is when nobody holds the other end any more.
 */
function outlive(child: ChildProcess, dir: string): void {
  const script = 'cat >/dev/null; kill -9 "$1"; rm -rf "$2"';
  const watch = spawn("sh", ["-c", script, "watch", String(child.pid), dir], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watch.unref();
  // A process id may be another's soon.
  child.once("exit", () => watch.kill("SIGKILL"));
}
