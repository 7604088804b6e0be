import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** All of `npm start`, from the sources, for the tests of a file. */
export interface RunningDemo {
  /** The shop's address. */
  shop: string;
  /** The service's. */
  service: string;
  close(): Promise<void>;
}

/** Starts it on free ports, with an empty DATA_DIR. Rejects where it ends before it listens. */
export async function startDemo(): Promise<RunningDemo> {
  const dataDir = await mkdtemp(join(tmpdir(), "chat-agent-demo-"));
  const child = spawn(process.execPath, ["--import", "tsx", "src/cli/chat-agent.ts", "serve"], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { PATH: process.env["PATH"], PORT: "0", DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const gone = once(child, "close");
  for await (const line of createInterface({ input: child.stdout })) {
    const [, service] = /"url":"([^"]+)"/.exec(line) ?? [];
    const [, shop] = /"demoUrl":"([^"]+)"/.exec(line) ?? [];
    if (service === undefined || shop === undefined) continue;
    child.stdout.resume();
    return {
      shop,
      service,
      async close() {
        child.kill("SIGKILL");
        await gone;
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  }
  throw new Error(`Cannot start the demo: the process ended: ${said}`);
}
