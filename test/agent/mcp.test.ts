import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { spawn } from "node:child_process";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Call } from "../../machines/run.ts";
import { createMcpSessions } from "../../src/agent/mcp.ts";
import type { McpServers, McpSessions } from "../../src/agent/mcp.ts";
import { MCP_TIMEOUTS } from "../../src/agent/mcp-session.ts";
import type { McpTimeouts } from "../../src/agent/mcp-session.ts";
import { freePort } from "../support/free-port.ts";
import { startMcpHttpServer } from "./mcp-http-server.ts";
import type { McpHttpServer } from "./mcp-http-server.ts";
import { silentLog } from "./run.ts";

const demoServer = fileURLToPath(new URL("../../src/demo/mcp-server.ts", import.meta.url));
const everything = fileURLToPath(
  import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
);

const demo: McpServers = { demo: { command: process.execPath, args: ["--import", "tsx", demoServer] } };

/** Each its own: the SDK leaves a listener on every signal that it is given. */
const never = () => new AbortController().signal;

function openSessions(timeouts: Partial<McpTimeouts> = {}): McpSessions & { clock: { ms: number } } {
  const clock = { ms: 0 };
  const sessions = createMcpSessions({
    clock: { now: () => clock.ms, elapsed: () => clock.ms },
    log: silentLog,
    timeouts: { ...MCP_TIMEOUTS, connectMs: 20_000, ...timeouts },
  });
  onTestFinished(() => sessions.close());
  return { ...sessions, clock };
}

async function openServer(...[pages, answer]: Parameters<typeof startMcpHttpServer>): Promise<McpHttpServer> {
  const server = await startMcpHttpServer(pages, answer);
  onTestFinished(() => server.close());
  return server;
}

function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, inputSchema: { type: "object" }, ...more };
}

function callOf(server: string, name: string, args: Record<string, unknown> = {}, repeatable = false): Call {
  return { callId: "c", kind: "server", server, tool: name, arguments: args, progress: "", repeatable };
}

const names = (tools: { name: string }[]) => tools.map(({ name }) => name);

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
    expect(await childrenRunning(demoServer)).toBe(1);
    await sessions.close();
    await vi.waitFor(async () => expect(await childrenRunning(demoServer)).toBe(0));
  });
});

describe("@modelcontextprotocol/server-everything, unchanged", () => {
  it("answers over stdio", async () => {
    const sessions = openSessions();
    const servers: McpServers = { all: { command: process.execPath, args: [everything] } };
    const tools = await sessions.tools("shop", servers, never());
    expect(names(tools)).toEqual(expect.arrayContaining(["echo", "get-sum", "get-tiny-image"]));
    // A tool that is only to be had as a task is not offered.
    expect(names(tools)).not.toContain("simulate-research-query");
    const ask = (name: string, args: Record<string, unknown>) =>
      sessions.call("shop", servers, callOf("all", name, args), never());
    expect(await ask("get-sum", { a: 2, b: 40 })).toMatchObject({
      text: expect.stringContaining("42") as string,
      isError: false,
    });
    expect((await ask("get-structured-content", { location: "New York" })).text).toContain("temperature");
    expect((await ask("get-tiny-image", {})).text).not.toContain("base64");
    expect(await ask("echo", {})).toMatchObject({ isError: true });
    // The server's process has only the environment that its settings name.
    expect((await ask("get-env", {})).text).not.toContain("VITEST");
  });

  it("answers over Streamable HTTP", async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [everything, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    onTestFinished(async () => {
      child.kill();
      await once(child, "exit");
    });
    await once(child.stderr, "data");
    const sessions = openSessions();
    const servers: McpServers = { all: { url: `http://127.0.0.1:${port}/mcp` } };
    expect(names(await sessions.tools("shop", servers, never()))).toContain("echo");
    const answer = await sessions.call("shop", servers, callOf("all", "echo", { message: "hi" }), never());
    expect(answer).toEqual({ text: "Echo: hi", isError: false });
    await sessions.close();
  });
});

describe("a server over HTTP", () => {
  it("has all pages of its tools listed once, with its headers sent", async () => {
    const server = await openServer([[tool("a"), tool("b")], [tool("c")]]);
    const servers: McpServers = { s: { url: server.url, headers: { authorization: "Bearer t0ken" } } };
    const sessions = openSessions();
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["a", "b", "c"]);
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["a", "b", "c"]);
    expect(server.lists()).toBe(1);
    expect(server.sessions()).toBe(1);
    expect(server.headers["authorization"]).toBe("Bearer t0ken");
  });

  it("has read-only and idempotent tools marked as repeatable, and no others", async () => {
    const server = await openServer([
      [
        tool("read", { annotations: { readOnlyHint: true } }),
        tool("put", { annotations: { idempotentHint: true } }),
        tool("pay", { annotations: { destructiveHint: true } }),
        tool("plain"),
      ],
    ]);
    const tools = await openSessions().tools("shop", { s: { url: server.url } }, never());
    expect(tools.map(({ repeatable }) => repeatable)).toEqual([true, true, false, false]);
  });

  it("is listed again when it says that its tools changed", async () => {
    const server = await openServer([[tool("old")]]);
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["old"]);
    server.pages = [[tool("new")]];
    await vi.waitFor(async () => {
      await server.announce();
      expect(names(await sessions.tools("shop", servers, never()))).toEqual(["new"]);
    });
  });

  it("is connected anew after a restart, and a call that it did not take is made again", async () => {
    const server = await openServer([[tool("pay")]]);
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    await sessions.tools("shop", servers, never());
    server.forget();
    const answer = await sessions.call("shop", servers, callOf("s", "pay"), never());
    expect(answer).toEqual({ text: "pay did it", isError: false });
    expect(server.calls).toHaveLength(1);
    expect(server.sessions()).toBe(2);
  });

  it("answers with structured content alone, or in parts, cut to 4,000 characters", async () => {
    const server = await openServer([[tool("a")]], ({ name }) =>
      Promise.resolve(
        name === "structured"
          ? { content: [], structuredContent: { celsius: 3 } }
          : { content: [{ type: "text", text: "x".repeat(5_000) }] },
      ),
    );
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    const ask = (name: string) => sessions.call("shop", servers, callOf("s", name), never());
    expect((await ask("structured")).text).toBe('{"celsius":3}');
    expect((await ask("long")).text).toHaveLength(4_000);
  });

  it("answers with its own error as an error", async () => {
    const server = await openServer([[tool("a")]], () => Promise.reject(new Error("Out of stock")));
    const answer = await openSessions().call("shop", { s: { url: server.url } }, callOf("s", "a"), never());
    expect(answer).toEqual({ text: expect.stringContaining("Out of stock") as string, isError: true });
  });

  it("is not waited for longer than the time limit of a call", async () => {
    const server = await openServer([[tool("a")]], () => new Promise(() => {}));
    const sessions = openSessions({ callMs: 100 });
    const answer = await sessions.call(
      "shop",
      { s: { url: server.url } },
      callOf("s", "a", {}, true),
      never(),
    );
    expect(answer).toEqual({
      text: expect.stringContaining("did not answer within") as string,
      isError: true,
    });
    expect(server.calls).toHaveLength(1);
  });

  it("is left by a call whose run was stopped, with the signal's reason", async () => {
    const server = await openServer([[tool("a")]], () => new Promise(() => {}));
    const controller = new AbortController();
    const calling = openSessions().call(
      "shop",
      { s: { url: server.url } },
      callOf("s", "a"),
      controller.signal,
    );
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    controller.abort(new Error("stopped"));
    await expect(calling).rejects.toThrow("stopped");
  });

  it("is replaced when its settings change, and calls under way get their answers", async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const server = await openServer([[tool("slow")]], async () => {
      await finished;
      return { content: [{ type: "text", text: "late" }] };
    });
    const sessions = openSessions();
    const before: McpServers = { s: { url: server.url } };
    const calling = sessions.call("shop", before, callOf("s", "slow"), never());
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    const after: McpServers = { s: { url: server.url, headers: { "x-version": "2" } } };
    await sessions.tools("shop", after, never());
    expect(server.sessions()).toBe(2);
    expect(server.headers["x-version"]).toBe("2");
    finish();
    expect(await calling).toEqual({ text: "late", isError: false });
    const gone = await sessions.call("shop", {}, callOf("s", "slow"), never());
    expect(gone).toEqual({ text: "This tool is no longer available.", isError: true });
  });
});

describe("a server that is down", () => {
  it("costs its own tools, and is asked again only after a pause that grows", async () => {
    const well = await openServer([[tool("a")]]);
    const attempts = await brokenServer();
    const servers: McpServers = { ill: { url: attempts.url }, well: { url: well.url } };
    const sessions = openSessions();
    const ask = async () => names(await sessions.tools("shop", servers, never()));

    expect(await ask()).toEqual(["a"]);
    expect(await ask()).toEqual(["a"]);
    expect(attempts.count()).toBe(1);
    const answer = await sessions.call("shop", servers, callOf("ill", "x"), never());
    expect(answer).toEqual({ text: "The tool cannot be reached at the moment.", isError: true });
    expect(attempts.count()).toBe(1);

    sessions.clock.ms += 1_000;
    await ask();
    expect(attempts.count()).toBe(2);
    sessions.clock.ms += 1_000;
    await ask();
    expect(attempts.count()).toBe(2);
    sessions.clock.ms += 1_000;
    await ask();
    expect(attempts.count()).toBe(3);
  });

  it("is given up after the time limit when it takes connections and says nothing", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const sessions = openSessions({ connectMs: 100 });
    expect(await sessions.tools("shop", { s: { url: `http://127.0.0.1:${port}/mcp` } }, never())).toEqual([]);
  });

  it("is no trouble when its command does not exist", async () => {
    const servers: McpServers = { s: { command: "/nonexistent/mcp-server" } };
    const sessions = openSessions();
    expect(await sessions.tools("shop", servers, never())).toEqual([]);
    expect(await sessions.call("shop", servers, callOf("s", "x"), never())).toMatchObject({ isError: true });
  });

  it("P15: tells the model no address", async () => {
    const attempts = await brokenServer();
    const answer = await openSessions().call("shop", { s: { url: attempts.url } }, callOf("s", "x"), never());
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|http/);
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
    const marker = join(tmpdir(), `mcp-mortal-${randomUUID()}`);
    onTestFinished(() => rm(marker, { force: true }));
    const servers: McpServers = { s: { command: process.execPath, args: ["-e", script(marker)] } };
    const sessions = openSessions();
    expect(await sessions.call("shop", servers, callOf("s", "x", {}, repeatable), never())).toEqual(answer);
  });
});

/** Answers every request with 503. */
async function brokenServer(): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const server = createHttpServer((_request, response) => {
    count += 1;
    response.writeHead(503).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, count: () => count };
}

/** Children of this process whose command line names the file. */
async function childrenRunning(file: string): Promise<number> {
  const ps = spawn("ps", ["-o", "args=", "--ppid", String(process.pid)]);
  let out = "";
  ps.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  await once(ps, "close");
  return out.split("\n").filter((line) => line.includes(file)).length;
}
