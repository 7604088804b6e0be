// For package.json
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { unpackPackage } from "./support/installed-package.ts";
import { temporaryFolder } from "./support/stores/data-dir.ts";
import { spawnCommand, startServiceProcess } from "./support/servers/service-process.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

test("the package that npm makes runs elsewhere", async () => {
  const folder = unpackPackage(temporaryFolder());
  const command = join(folder, "dist/src/cli/chat-agent.js");
  const run = (...args: string[]) => execFileSync(process.execPath, [command, ...args]).toString();
  expect(run("--version")).toBe(`${version}\n`);
  expect(run("--help")).toContain("chat-agent");

  const env = { DATA_DIR: temporaryFolder() };
  const { url, output } = await startServiceProcess(env, { command });
  expect(JSON.parse(output.stdout[0] ?? "")).toMatchObject({ version, msg: "Starting" });
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "ok", version });
  for (const path of ["/swagger", "/widget/v1/chat-agent.js"]) {
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
  }
});

test("`chat-agent --version` tells the version of package.json", async () => {
  const { exit, output } = spawnCommand(["--version"], {});
  expect(await exit).toBe(0);
  expect(output.stdout.join("\n").trim()).toBe(version);
});
