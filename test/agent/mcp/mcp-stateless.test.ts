// For src/agent/mcp/connect/connect.ts, src/agent/mcp/connect/connection.ts, src/agent/mcp/put-off.ts, src/agent/mcp/list-tools.ts, src/agent/mcp/wanted-input.ts
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { notPutOff } from "../../../src/agent/mcp/put-off.ts";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { listing, openScriptedServer, say, sayError } from "./scripted-mcp-server.ts";
import type { Player } from "./scripted-mcp-server.ts";
import { callOf, names, never, openSessions } from "./sessions.ts";

/** A server of 2026-07-28 alone, made with the SDK: no session, nothing but what each request says. */
async function openStateless() {
  const posted: { method: string; param: string | undefined; session: boolean }[] = [];
  const offered = { more: false };
  /** How often the tool `queue` puts a call off, and what each of its calls came with. */
  const queue = { length: 0, states: [] as (string | undefined)[] };
  const make = () => {
    const server = new McpServer(
      { name: "stateless", version: "1" },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.registerTool(
      "find",
      { inputSchema: z.object({ place: z.string().meta({ "x-mcp-header": "Place" }) }) },
      ({ place }) => ({ content: [{ type: "text", text: `found in ${place}` }] }),
    );
    server.registerTool("book", { inputSchema: z.object({}) }, () =>
      inputRequired({
        inputRequests: {
          day: inputRequired.elicit({
            message: "Which day?",
            requestedSchema: { type: "object", properties: { day: { type: "string" } } },
          }),
        },
      }),
    );
    server.registerTool("queue", { inputSchema: z.object({}) }, (_, { mcpReq }) => {
      queue.states.push(mcpReq.requestState());
      if (queue.states.length > queue.length) return { content: [{ type: "text", text: "your turn" }] };
      return inputRequired({ requestState: `waited ${queue.states.length}` });
    });
    if (offered.more) server.registerTool("later", {}, () => ({ content: [] }));
    return server;
  };
  const handler: McpHttpHandler = createMcpHandler(make, { legacy: "reject" });
  const handle = toNodeHandler(handler);
  const origin = await openHttpServer((request, response) => {
    posted.push({
      method: String(request.headers["mcp-method"]),
      param: request.headers["mcp-param-place"] as string | undefined,
      session: "mcp-session-id" in request.headers,
    });
    // Their types differ in what may be undefined.
    void handle(request as Parameters<typeof handle>[0], response);
  });
  const url = `${origin}/mcp`;
  return { servers: { s: { url } }, posted, offered, queue, handler };
}

describe("a server of 2026-07-28 alone", () => {
  it("is asked for its revision, and answers without a session", async () => {
    const { servers, posted } = await openStateless();
    const sessions = openSessions();
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["find", "book", "queue"]);
    const answer = await sessions.call("shop", servers, callOf("s", "find", { place: "Rom" }), never());
    expect(answer).toEqual({ text: "found in Rom", isError: false });
    expect(posted.map(({ method }) => method)).toEqual(
      expect.arrayContaining(["server/discover", "tools/list", "tools/call"]),
    );
    expect(posted.find(({ method }) => method === "tools/call")).toEqual({
      method: "tools/call",
      param: "Rom",
      session: false,
    });
    expect(posted.some(({ method }) => method === "initialize")).toBe(false);
  });

  it("shows the visitor its question, and tells the model", async () => {
    const { servers } = await openStateless();
    const answer = await openSessions().call("shop", servers, callOf("s", "book"), never());
    expect(answer).toMatchObject({ isError: true, shown: "Which day?" });
    expect(answer.text).toContain("Which day?");
  });

  it("is asked again with its state where it puts a call off and asks nothing", async () => {
    const { servers, queue } = await openStateless();
    const sessions = openSessions();
    queue.length = 2;
    const call = () => sessions.call("shop", servers, callOf("s", "queue"), never());
    expect(await call()).toEqual({ text: "your turn", isError: false });
    expect(queue.states).toEqual([undefined, "waited 1", "waited 2"]);
    queue.length = Infinity;
    queue.states = [];
    expect(await call()).toEqual({
      text: "The tool's server put this call off, again and again. It may work later.",
      isError: true,
    });
    expect(queue.states).toHaveLength(11);
  });

  it("is asked no more for a call that it put off when the run has left it", async () => {
    const { servers, queue } = await openStateless();
    queue.length = Infinity;
    const left = new AbortController();
    const sessions = openSessions();
    const calling = sessions.call("shop", servers, callOf("s", "queue"), left.signal);
    await expect.poll(() => queue.states.length).toBeGreaterThan(0);
    left.abort(new Error("left"));
    await expect(calling).rejects.toThrow("left");
    const asked = queue.states.length;
    // Another call is put off for twice the pause: the one that was left would have come again.
    queue.length = asked + 2;
    await sessions.call("shop", servers, callOf("s", "queue"), never());
    expect(queue.states).toHaveLength(asked + 3);
  });

  it("says that its tools changed", async () => {
    const { servers, offered, handler, posted } = await openStateless();
    const sessions = openSessions();
    const listed = async () => names(await sessions.tools("shop", servers, never()));
    expect(await listed()).toHaveLength(3);
    await expect.poll(() => posted.map(({ method }) => method)).toContain("subscriptions/listen");
    offered.more = true;
    await expect
      .poll(async () => {
        handler.notify.toolsChanged();
        return listed();
      })
      .toContain("later");
  });
});

const discover: Player = (response, posted) =>
  say(response, posted, {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: "private",
  });

describe("an odd server of 2026-07-28", () => {
  it("costs its odd tools alone", async () => {
    const tools = [
      { name: "good", inputSchema: { type: "object" } },
      { name: 7 },
      { name: "odd", inputSchema: { type: "object", properties: { a: true } } },
    ];
    const server = await openScriptedServer({
      "server/discover": discover,
      // Without ttlMs and cacheScope, which are required.
      "tools/list": (response, posted) =>
        say(response, posted, { resultType: "complete", tools, nextCursor: null }),
      "tools/call": (response, posted) =>
        say(response, posted, { content: [{ type: "text", text: "did it" }] }),
    });
    const servers = { s: { url: server.url } };
    const sessions = openSessions();
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["good", "odd"]);
    expect(sessions.odd()[0]?.oddities).toContain("a tool without a name");
    // Without resultType.
    const answer = await sessions.call("shop", servers, callOf("s", "good"), never());
    expect(answer).toEqual({ text: "did it", isError: false });
  });

  const marked = (mark: unknown, type = "string") => ({ type, "x-mcp-header": mark });
  const MARKS: readonly [string, object, string | null][] = [
    ["a name", { a: marked("Place") }, null],
    ["a name on a deeper property", { a: { type: "object", properties: { b: marked("Place") } } }, null],
    ["a property that is called so", { "x-mcp-header": { type: "string" } }, null],
    ["no name of a header", { a: marked("a b") }, "no name of a header"],
    ["no text", { a: marked(7) }, "no name of a header"],
    ["one name twice", { a: marked("Place"), b: marked("place") }, "twice with one name"],
    ["a number", { a: marked("Place", "number") }, "no text, integer or boolean"],
    ["a list's part", { a: { type: "array", items: marked("Place") } }, "no property of its arguments"],
  ];
  it.each(MARKS)("marks for a header %s", async (_, properties, reason) => {
    const tools = [{ name: "a", inputSchema: { type: "object", properties } }];
    const server = await openScriptedServer({ "server/discover": discover, ...listing(tools) });
    const sessions = openSessions();
    expect(names(await sessions.tools("shop", { s: { url: server.url } }, never()))).toEqual(
      reason === null ? ["a"] : [],
    );
    const oddities = sessions.odd().map((one) => one.oddities);
    expect(oddities).toEqual(
      reason === null ? [] : [expect.stringMatching(/left out \(it.* x-mcp-header/) as string],
    );
    if (reason !== null) expect(oddities[0]).toContain(reason);
  });

  it("answers in a way that is not known: the model is told, and the connection stays", async () => {
    const server = await openScriptedServer({
      "server/discover": discover,
      "tools/call": (response, posted) => say(response, posted, { resultType: "task", task: {} }),
    });
    const servers = { s: { url: server.url } };
    const sessions = openSessions();
    for (const _ of [1, 2]) {
      const answer = await sessions.call("shop", servers, callOf("s", "find"), never());
      expect(answer).toMatchObject({
        isError: true,
        text: expect.stringContaining("does not know") as string,
      });
    }
    expect(server.asked.filter((method) => method === "server/discover")).toHaveLength(1);
  });

  it("is listed again when its list holds no longer, and not before", async () => {
    const server = await openScriptedServer({
      "server/discover": discover,
      "tools/list": (response, posted) =>
        say(response, posted, { resultType: "complete", tools: [{ name: "a" }], ttlMs: 60_000 }),
    });
    const sessions = openSessions();
    const list = () => sessions.tools("shop", { s: { url: server.url } }, never());
    const lists = () => server.asked.filter((method) => method === "tools/list").length;
    await list();
    sessions.clock.ms += 59_000;
    await list();
    expect(lists()).toBe(1);
    sessions.clock.ms += 1_000;
    await list();
    await expect.poll(lists).toBe(2);
  });
});

describe("a server that cannot say which revision it speaks", () => {
  const ROWS: readonly [string, Player][] = [
    [
      "refuses with -32601",
      (response, posted) => sayError(response, posted, { code: -32_601, message: "m" }),
    ],
    ["refuses with 400", (response) => void response.writeHead(400).end()],
    ["fails with 500", (response) => void response.writeHead(500).end()],
    ["takes it with 202", (response) => void response.writeHead(202).end()],
    ["says nothing", () => {}],
    [
      "answers with HTML",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    ],
  ];
  it.each(ROWS)("%s: it is asked by initialize", async (_, player) => {
    const server = await openScriptedServer({ "server/discover": player });
    const sessions = openSessions({ connectMs: 3_000 });
    expect(names(await sessions.tools("shop", { s: { url: server.url } }, never()))).toEqual(["find"]);
    expect(server.asked.slice(0, 2)).toEqual(["server/discover", "initialize"]);
  });
});

it("a call that is put off is asked for no more once its run is over", async () => {
  const over = new AbortController();
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (asked === 2) over.abort(new Error("the run is over"));
    return { resultType: "input_required", requestState: "later" };
  };
  await expect(notPutOff(ask, over.signal)).rejects.toThrow("aborted");
  expect(asked).toBe(2);
});
