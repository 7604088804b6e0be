// For src/agent/mcp/
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, it, test } from "vitest";
import { temporaryFolder } from "../../../support/stores/data-dir.ts";

/** The client scenarios of `@modelcontextprotocol/conformance` that this service must pass. */
const PASSES = [
  "initialize",
  "tools_call",
  "sse-retry",
  "auth/client-credentials-basic",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
];

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const suite = fileURLToPath(
  new URL("../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const client = fileURLToPath(new URL("client.ts", import.meta.url));
const tsx = createRequire(import.meta.url).resolve("tsx");

/** The suite uses `fs.globSync`, which Node has since 22; without it there is nothing to play. */
const isOlderThanSuite = !("globSync" in fs);

it.skipIf(isOlderThanSuite).each(PASSES)("passes %s (the suite needs Node 22)", async (scenario) => {
  const command = `${process.execPath} --import ${tsx} ${client}`;
  const args = ["client", "--command", command, "--scenario", scenario, "-o", temporaryFolder()];
  const { code, output } = await run(args);
  expect(output).not.toMatch(/\bFAILURE\b|\bWARNING\b/);
  expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
});

test.skipIf(isOlderThanSuite)(
  "the README lists every client scenario of the suite (it needs Node 22), and marks those that pass",
  async () => {
    const { output } = await run(["list"]);
    const listed = output.slice(output.indexOf("Client scenarios"));
    const all = [...listed.matchAll(/^\s+- (\S+)/gm)].flatMap(([, name]) => name ?? []);
    expect(all.length).toBeGreaterThan(20);
    const readme = fs.readFileSync(`${root}src/agent/mcp/README.md`, "utf8");
    const rows = [...readme.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \| (passes|does not apply|not built)/gm)];
    const told = rows.flatMap(([, names = "", verdict]) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => ({ name, verdict })),
    );
    expect(new Set(told.map(({ name }) => name))).toEqual(new Set(all));
    const passing = told.filter(({ verdict }) => verdict === "passes").map(({ name }) => name);
    expect(new Set(passing)).toEqual(new Set(PASSES));
  },
);

async function run(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [suite, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
