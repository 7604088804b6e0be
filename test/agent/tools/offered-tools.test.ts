// For src/agent/mcp/sessions.ts, src/agent/mcp/tool-result.ts, src/agent/tools/tools.ts, src/agent/tools/failures.ts
import { expect, test } from "vitest";
import type { McpRequest } from "../../../src/agent/mcp/sessions.ts";
import { toolResultText } from "../../../src/agent/mcp/tool-result.ts";
import { sendMessage, startTestService, TEST_KEY } from "../../support/servers/service.ts";
import { listing, openScriptedServer } from "../mcp/scripted-mcp-server.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { openShopper, shopChannel } from "../../models/shopper.ts";
import { callOf, names, never, openServer, openSessions, tool } from "../mcp/sessions.ts";

const pages = [[tool("find"), tool("pay", { annotations: { destructiveHint: true } }), tool("drop")]];

test.each<[string, { allow?: string[]; deny?: string[] } | undefined, string[]]>([
  ["without a word: all but what is marked as destructive", undefined, ["find", "drop"]],
  ["denied: all others", { deny: ["drop"] }, ["find"]],
  ["allowed: these alone, destructive ones too", { allow: ["find", "pay"] }, ["find", "pay"]],
  ["allowed and denied: denied", { allow: ["find", "pay"], deny: ["pay"] }, ["find"]],
])("tools are offered %s", async (_what, tools, offered) => {
  const server = await openServer(pages);
  const servers = { s: { url: server.url, ...(tools ? { tools } : {}) } };
  expect(names(await openSessions().tools("shop", servers, never()))).toEqual(offered);
});

test("a tool that is not offered any more is not called", async () => {
  const server = await openServer(pages);
  const sessions = openSessions();
  for (const tools of [{ deny: ["find"] }, { allow: ["drop"] }]) {
    const answer = await sessions.call(
      "shop",
      { s: { url: server.url, tools } },
      callOf("s", "find"),
      never(),
    );
    expect(answer).toEqual({ text: "This tool is no longer available.", isError: true });
  }
  expect(server.calls).toEqual([]);
});

test("lists and calls are told by server and outcome", async () => {
  const told: McpRequest[] = [];
  const server = await openServer(pages);
  const servers = { s: { url: server.url }, gone: { url: "http://127.0.0.1:9/mcp" } };
  const sessions = openSessions({}, { onRequest: (request) => void told.push(request) });
  expect((await sessions.offered("shop", servers, never())).missing).toEqual(["gone"]);
  await sessions.call("shop", servers, callOf("s", "find"), never());
  expect(told.map((one) => `${one.server} ${one.operation} ${one.outcome}`)).toEqual([
    "s list done",
    "gone list failed",
    "s call done",
  ]);
});

test("a server that cannot be used is told to the model and to the operator", async () => {
  const { server, model } = await openScriptedModel(["Sorry."]);
  const agent = { mcpServers: { orders: { url: "http://127.0.0.1:9/mcp" } } };
  const { url } = await startTestService({
    model,
    env: { MCP_PRIVATE: "on" },
    channels: [shopChannel(agent)],
  });
  const shopper = await openShopper(() => url);
  await shopper.say("Where is my order?");
  expect(JSON.stringify(server.requests[0]?.body.messages[0])).toContain(
    "cannot be reached at the moment: orders",
  );
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const health = (await (await fetch(`${url}/health`, { headers })).json()) as { warnings: string[] };
  expect(health.warnings).toEqual([
    "MCP server orders of channel shop cannot be used: its tools are left out",
  ]);
});

test("a result's text is kept of every kind, and what cannot be told is named", () => {
  const content = [
    { type: "text", text: "a" },
    { type: "image", data: "iVBO", mimeType: "image/png" },
    { type: "audio", data: "iVBO", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///b", text: "b" } },
    { type: "resource", resource: { uri: "file:///c.pdf", blob: "x", mimeType: "application/pdf" } },
    { type: "resource_link", uri: "https://x.example/d", name: "d" },
    7,
  ];
  expect(toolResultText({ content })).toBe(
    [
      "a",
      "[image image/png: it cannot be shown to you]",
      "[audio audio/wav: it cannot be shown to you]",
      "b",
      "[file file:///c.pdf application/pdf: it cannot be shown to you]",
      "[link d https://x.example/d]",
    ].join("\n"),
  );
});

test("a cut is marked within the 4,000 characters, and what fits is not cut", () => {
  const resultOf = (chars: number) =>
    toolResultText({ content: [{ type: "text", text: "x".repeat(chars) }] });
  expect(resultOf(4_000)).toBe("x".repeat(4_000));
  expect(resultOf(4_001)).toHaveLength(4_000);
  expect(resultOf(4_001)).toMatch(/x\n\[cut: /);
});

/** Asks in a channel whose server has these tools; what the model was given, and what the operator is told. */
async function askWith(tools: object[], maxInputTokens: number, said = 1) {
  const mcp = await openScriptedServer(listing(tools));
  const { server, model } = await openScriptedModel(() => "Hi.");
  const { url, logged } = await startTestService({
    model,
    env: { MCP_PRIVATE: "on", AGENT_MAX_INPUT_TOKENS: String(maxInputTokens) },
    channels: [shopChannel({ mcpServers: { shop: { url: mcp.url } } })],
  });
  for (let nth = 0; nth < said; nth += 1) {
    const message = { threadId: "t", userId: "u", text: "words ".repeat(100), channel: "shop" };
    expect((await sendMessage(url, message)).status).toBe(200);
  }
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const health = (await (await fetch(`${url}/health`, { headers })).json()) as { warnings: string[] };
  const body = server.requests.at(-1)?.body as unknown as {
    tools?: { function: { name: string } }[];
    messages: unknown[];
  };
  return { body, health: health.warnings, warned: logged.filter((line) => line.includes("is not offered")) };
}

test("G2: tools that are too long together are left out, the longest first, with one warning", async () => {
  const tool = (name: string, chars: number) => ({
    name,
    inputSchema: { type: "object", properties: { a: { type: "string", description: "d".repeat(chars) } } },
  });
  const tools = [tool("a", 100), tool("huge", 60_000), tool("b", 100), tool("large", 30_000)];
  const { body, health, warned } = await askWith(tools, 4_000, 3);
  expect(body.tools?.map((one) => one.function.name)).toEqual(["a", "b", "task_failed"]);
  expect(JSON.stringify(body).length).toBeLessThan(4 * 4_000);
  const told =
    'The model of channel shop is not offered "shop/huge", "shop/large": its tools are too many or too long together. Choose some by tools.allow of their servers, or raise AGENT_MAX_INPUT_TOKENS';
  expect(health).toEqual([told]);
  expect(warned).toHaveLength(1);
  expect(JSON.parse(warned[0] ?? "")).toMatchObject({ slug: "shop", msg: told });
});

test("G2: more tools than a model takes are left out with a warning, too", async () => {
  const tools = Array.from({ length: 140 }, (_, nth) => ({
    name: `t${nth}`,
    inputSchema: { type: "object" },
  }));
  const { body, health } = await askWith(tools, 1_000_000);
  expect(body.tools).toHaveLength(128);
  expect(health).toEqual([expect.stringContaining('"shop/t127"') as string]);
});

test("G2: what tools take is taken from the history", async () => {
  const tools = [{ name: "a", description: "d".repeat(4_000), inputSchema: { type: "object" } }];
  const without = await askWith([], 1_500, 8);
  const beside = await askWith(tools, 1_500, 8);
  expect(without.health).toEqual([]);
  expect(beside.health).toEqual([]);
  expect(without.body.messages.length - beside.body.messages.length).toBeGreaterThanOrEqual(8);
});
