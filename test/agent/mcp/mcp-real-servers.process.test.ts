// For src/agent/mcp/connect/transports.ts, src/agent/mcp/connect/connect.ts, src/agent/mcp/
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { McpServer } from "../../../src/domain/channels/channel.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { callOf, names, never, openSessions } from "./sessions.ts";

/** Servers as npm has them, unchanged, by each transport that they have. */
const fileOf = (name: string) =>
  fileURLToPath(
    new URL(`../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url),
  );

function open(server: McpServer) {
  const sessions = openSessions();
  const servers = { s: server };
  return {
    tools: async () => names(await sessions.tools("shop", servers, never())),
    ask: (name: string, args: Record<string, unknown> = {}) =>
      sessions.call("shop", servers, callOf("s", name, args), never()),
  };
}

const process_ = (name: string, args: string[] = [], env: Record<string, string> = {}): McpServer => ({
  command: process.execPath,
  args: [fileOf(name), ...args],
  env,
});

/** A process that serves over HTTP; resolves when it takes connections. */
async function served(name: string, args: string[], path: string): Promise<McpServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [fileOf(name), ...args], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  await expect.poll(() => takesConnections(port)).toBe(true);
  return { url: `http://127.0.0.1:${port}${path}` };
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe("server-everything", () => {
  const WAYS: readonly [string, () => Promise<McpServer>][] = [
    ["stdio", async () => process_("everything")],
    ["Streamable HTTP", () => served("everything", ["streamableHttp"], "/mcp")],
    ["SSE", () => served("everything", ["sse"], "/sse")],
  ];

  it.each(WAYS)("answers over %s", async (_, server) => {
    const { tools, ask } = open(await server());
    const offered = await tools();
    expect(offered).toEqual(expect.arrayContaining(["echo", "get-sum", "get-tiny-image"]));
    // A tool that is only to be had as a task is not offered.
    expect(offered).not.toContain("simulate-research-query");
    expect(await ask("echo", { message: "hi" })).toEqual({ text: "Echo: hi", isError: false });
    expect(await ask("get-sum", { a: 2, b: 40 })).toMatchObject({
      text: expect.stringContaining("42") as string,
      isError: false,
    });
    expect((await ask("get-structured-content", { location: "New York" })).text).toContain("temperature");
    expect((await ask("get-tiny-image")).text).not.toContain("base64");
    expect(await ask("echo", {})).toMatchObject({ isError: true });
  });

  it.each(WAYS)("asks the visitor over %s, who sees the question", async (_, server) => {
    const { tools, ask } = open(await server());
    // It offers the tool when it knows what its client can do.
    await expect.poll(tools).toContain("trigger-elicitation-request");
    const answer = await ask("trigger-elicitation-request");
    expect(answer.shown).toContain("Please provide inputs");
    expect(answer.text).toContain("It was told that nobody answered");
  });

  it("has only the environment that its settings name", async () => {
    expect((await open(process_("everything")).ask("get-env")).text).not.toContain("VITEST");
  });
});

describe("server-filesystem", () => {
  it("lists and reads over stdio", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "note.txt"), "delivery takes two days");
    const { tools, ask } = open(process_("filesystem", [folder]));
    expect(await tools()).toEqual(expect.arrayContaining(["read_text_file", "list_directory"]));
    expect((await ask("list_directory", { path: folder })).text).toContain("note.txt");
    expect(await ask("read_text_file", { path: join(folder, "note.txt") })).toEqual({
      text: "delivery takes two days",
      isError: false,
    });
    expect(await ask("read_text_file", { path: "/etc/passwd" })).toMatchObject({ isError: true });
  });
});

describe("server-memory", () => {
  it("remembers over stdio", async () => {
    const file = join(temporaryFolder(), "memory.jsonl");
    const { tools, ask } = open(process_("memory", [], { MEMORY_FILE_PATH: file }));
    expect(await tools()).toEqual(expect.arrayContaining(["create_entities", "read_graph"]));
    const entities = [{ name: "Ada", entityType: "customer", observations: ["likes tea"] }];
    expect(await ask("create_entities", { entities })).toMatchObject({ isError: false });
    expect((await ask("search_nodes", { query: "tea" })).text).toContain("Ada");
  });
});

describe("server-sequential-thinking", () => {
  it("takes a thought over stdio", async () => {
    const { tools, ask } = open(process_("sequential-thinking"));
    expect(await tools()).toEqual(["sequentialthinking"]);
    const thought = { thought: "first", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 };
    expect((await ask("sequentialthinking", thought)).text).toContain("thoughtHistoryLength");
  });
});

describe("server-pdf", () => {
  const WAYS: readonly [string, () => Promise<McpServer>][] = [
    ["stdio", async () => process_("pdf", ["--stdio"])],
    ["Streamable HTTP", () => served("pdf", [], "/mcp")],
  ];
  it.each(WAYS)("lists its documents over %s", async (_, server) => {
    const { tools, ask } = open(await server());
    expect(await tools()).toContain("list_pdfs");
    expect(await ask("list_pdfs")).toMatchObject({ isError: false });
  });
});
