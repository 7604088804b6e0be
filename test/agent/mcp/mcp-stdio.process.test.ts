// For src/agent/mcp/connect/transports.ts, src/agent/mcp/connect/sdk.ts
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { familyOf } from "../../../bench/rig/usage.ts";
import type { McpServers } from "../../../src/agent/mcp/sessions.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { callOf, never, openSessions } from "./sessions.ts";

const demoServer = fileURLToPath(new URL("../../../src/demo/mcp-server.ts", import.meta.url));
const demo: McpServers = { demo: { command: process.execPath, args: ["--import", "tsx", demoServer] } };

describe("the demo's MCP server", () => {
  it("has a clock and an order look-up, both repeatable, and answers", async () => {
    const sessions = openSessions();
    const tools = await sessions.tools("shop", demo, never());
    expect(tools.map(({ server, name, title, repeatable }) => [server, name, title, repeatable])).toEqual([
      ["demo", "clock", "Clock", true],
      ["demo", "order_status", "Order status", true],
    ]);
    const ask = (name: string, args: Record<string, unknown>) =>
      sessions.call("shop", demo, callOf("demo", name, args), never());
    expect(await ask("order_status", { orderId: "1001" })).toEqual({
      text: expect.stringContaining("shipped") as string,
      isError: false,
    });
    expect((await ask("order_status", { orderId: "#1002" })).text).toContain("being packed");
    expect(await ask("order_status", { orderId: "9" })).toEqual({
      text: expect.stringContaining("four digits") as string,
      isError: true,
    });
    expect(await ask("clock", { timeZone: "Europe/Berlin" })).toMatchObject({ isError: false });
    expect(await ask("clock", { timeZone: "Mars" })).toMatchObject({ isError: true });
    expect(await ask("order_status", {})).toMatchObject({ isError: true });
  });

  it("is started once for all that ask, and ends with the sessions", async () => {
    const sessions = openSessions();
    const [first, second] = await Promise.all([
      sessions.tools("shop", demo, never()),
      sessions.tools("shop", demo, never()),
    ]);
    expect(first).toHaveLength(2);
    expect(second).toEqual(first);
    expect(childrenRunning(demoServer)).toBe(1);
    await sessions.close();
    await expect.poll(() => childrenRunning(demoServer)).toBe(0);
  });
});

describe("a command that cannot be started", () => {
  it("is no trouble to the others", async () => {
    const servers: McpServers = { s: { command: "/nonexistent/mcp-server" } };
    const sessions = openSessions();
    expect(await sessions.tools("shop", servers, never())).toEqual([]);
    expect(await sessions.call("shop", servers, callOf("s", "x"), never())).toMatchObject({ isError: true });
  });
});

describe("a server process that dies in a call", () => {
  // Answers initialize, then dies on the first call of each life, unless it has lived before.
  const script = (marker: string) => `
    const { existsSync, writeFileSync } = require("node:fs");
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "initialize") answer({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "mortal", version: "1" } });
      if (method === "tools/call") {
        if (existsSync(${JSON.stringify(marker)})) answer({ content: [{ type: "text", text: "second life" }] });
        else { writeFileSync(${JSON.stringify(marker)}, ""); process.exit(1); }
      }
    });`;

  it.each([
    [true, { text: "second life", isError: false }],
    [false, { text: expect.stringContaining("unknown") as string, isError: true }],
  ])("is asked again where the tool is repeatable (%s), and only there", async (repeatable, answer) => {
    const marker = join(temporaryFolder(), "lived-before");
    const servers: McpServers = { s: { command: process.execPath, args: ["-e", script(marker)] } };
    // It says nothing to `server/discover`, for which a third of this is waited.
    const sessions = openSessions({ connectMs: 3_000 });
    expect(await sessions.call("shop", servers, callOf("s", "x", {}, repeatable), never())).toEqual(answer);
  });
});

/** Processes that this one started whose command line names the file. */
function childrenRunning(file: string): number {
  const [, ...children] = familyOf(process.pid);
  return children.filter((pid) => commandOf(pid).includes(file)).length;
}

/** Empty: the process is gone. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
