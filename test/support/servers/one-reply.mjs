// Starts the built service on the embedded store with the node listener, as this Node runs it, and asks for one reply.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const KEY = "one-reply-key";
const dataDir = mkdtempSync(join(tmpdir(), "one-reply-"));
const service = spawn(process.execPath, ["dist/src/cli/chat-agent.js", "serve"], {
  env: { PATH: process.env.PATH, PORT: "0", DATA_DIR: dataDir, HARNESS_API_KEY: KEY, LISTENER: "node" },
  stdio: ["ignore", "pipe", "inherit"],
});
const exit = new Promise((resolve) => service.once("exit", resolve));

try {
  const url = await addressOf(service);
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ threadId: "t1", userId: "u1", text: "Hello" }),
  });
  const lines = (await response.text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const said = lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
  if (response.status !== 200 || lines.at(-1).type !== "done" || said === "") {
    throw new Error(`Cannot pass: status ${response.status}, last line ${JSON.stringify(lines.at(-1))}`);
  }
  service.kill("SIGTERM");
  const code = await exit;
  if (code !== 0) throw new Error(`Cannot pass: SIGTERM ended the service with exit code ${code}`);
  console.log(`Node ${process.version}: one reply of ${said.length} characters, and a clean exit`);
} finally {
  service.kill("SIGKILL");
  rmSync(dataDir, { recursive: true, force: true });
}

/** The address from the service's log. */
async function addressOf(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.startsWith("{") ? JSON.parse(line).url : undefined;
    if (url !== undefined) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error("Cannot pass: the service ended before it listened");
}
