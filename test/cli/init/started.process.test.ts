// For src/cli/init/
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { runCommand } from "../../support/terminal.ts";

const SITE = "https://www.example.com";
const Made = z.object({ publishableKey: z.string(), start: z.string(), paste: z.array(z.string()) });
const Visitor = z.object({ visitorToken: z.string() });
const Thread = z.object({ threadId: z.string() });

/** The line that `init` printed, in a shell; resolves with the address where it listens. */
async function startAsPrinted(folder: string, line: string): Promise<string> {
  const env = { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"], PORT: "0" };
  const child = spawn("bash", ["-c", `exec ${line}`], { cwd: folder, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  for await (const told of createInterface({ input: child.stdout })) {
    if (told.includes('"url":')) return z.object({ url: z.string() }).parse(JSON.parse(told)).url;
  }
  throw new Error(`Cannot start: ${complaints}`);
}

test("what init prints, pasted as it stands, answers a visitor of the site", async () => {
  const folder = temporaryFolder();
  const { out } = await runCommand({}, [
    "init",
    "--json",
    "--dir",
    folder,
    "--origin",
    SITE,
    "--model",
    "demo",
  ]);
  const { publishableKey, start, paste } = Made.parse(JSON.parse(out));
  const url = await startAsPrinted(folder, start);

  const script = /src="([^"]+)"/.exec(paste[0] ?? "")?.[1]?.replace("http://127.0.0.1:8080", url) ?? "";
  expect((await fetch(script)).status).toBe(200);
  const post = async (path: string, body: object, door: Record<string, string>) => {
    const headers = { origin: SITE, "content-type": "application/json", ...door };
    return fetch(`${url}/v1/widget${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  };
  const visitor = await post("/visitors", {}, { "x-publishable-key": publishableKey });
  const { visitorToken } = Visitor.parse(await visitor.json());
  const door = { "x-visitor-token": visitorToken };
  const { threadId } = Thread.parse(await (await post("/threads", {}, door)).json());
  const reply = await post("/messages", { threadId, text: "Hello" }, door);
  expect(reply.headers.get("access-control-allow-origin")).toBe(SITE);
  expect(await reply.text()).toMatch(/"demo "[\s\S]*"type":"done"/);
});
