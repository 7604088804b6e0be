// For src/agent/mcp/
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/*
 * The conformance suite of the Model Context Protocol (@modelcontextprotocol/conformance) plays servers of its own against
 * the service's client. Scenarios that do not apply are in src/agent/mcp/README.md, with why.
 */
const SCENARIOS = ["initialize", "tools_call", "sse-retry", "auth/client-credentials-basic"];

const run = promisify(execFile);
const resolve = createRequire(import.meta.url).resolve;
const suite = join(dirname(resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js");
const client = fileURLToPath(new URL("client.ts", import.meta.url));
const loader = resolve("tsx");

test.each(SCENARIOS)("the client passes the suite's scenario %s", async (scenario) => {
  const command = `${process.execPath} --import ${loader} ${client}`;
  const args = [suite, "client", "--command", command, "--scenario", scenario, "--timeout", "120000"];
  // Rejects where a check fails, with what the suite said.
  const { stdout, stderr } = await run(process.execPath, args);
  expect(stdout + stderr).toMatch(/Passed: (\d+)\/\1, 0 failed, 0 warnings/);
});
