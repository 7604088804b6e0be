// For src/agent/mcp/connect/connection.ts, src/agent/mcp/session.ts, src/agent/mcp/fault.ts, src/agent/mcp/connect/connect-fault.ts,
// src/agent/mcp/connect/hidden-error.ts
import { describe, expect, it } from "vitest";
import { beginEvents, openScriptedServer, say } from "./scripted-mcp-server.ts";
import type { Player } from "./scripted-mcp-server.ts";
import { callOf, never, openSessions } from "./sessions.ts";

/** The SDK leaves such a request pending until its time is over (typescript-sdk#2739): a minute, beyond a test's. */
const LOST: readonly [string, Player][] = [
  ["ends", (response) => (beginEvents(response), response.end())],
  ["is reset", (response) => (beginEvents(response), setImmediate(() => response.destroy()))],
  ["ends within an event", (response) => (beginEvents(response, 'data: {"jsonrpc":"2.0",'), response.end())],
  ["tells of progress alone", (response) => (beginEvents(response, progress()), response.end())],
  [
    "answers another request",
    (response) => (beginEvents(response, event({ jsonrpc: "2.0", id: 999, result: {} })), response.end()),
  ],
  ["is none: 202", (response) => void response.writeHead(202).end()],
  [
    "is the JSON of another request",
    (response, posted) => say(response, { ...posted, id: 999 }, { content: [] }),
  ],
];

describe("C1: a call whose answer's stream", () => {
  it.each(LOST)("%s is known to be lost at once", async (_, player) => {
    const server = await openScriptedServer({ "tools/call": player });
    const servers = { s: { url: server.url } };
    const answer = await openSessions().call("shop", servers, callOf("s", "pay"), never());
    expect(answer).toEqual({
      text: "The connection to the tool was lost. Whether it did its work is unknown.",
      isError: true,
    });
    expect(server.asked.filter((method) => method === "tools/call")).toHaveLength(1);
  });

  it.each(LOST)("%s is made again where its tool may be repeated", async (_, player) => {
    const server = await openScriptedServer();
    server.players["tools/call"] = (...asked) => {
      delete server.players["tools/call"];
      player(...asked);
    };
    const servers = { s: { url: server.url } };
    const answer = await openSessions().call("shop", servers, callOf("s", "find", {}, true), never());
    expect(answer).toEqual({ text: "found", isError: false });
  });

  it("can be resumed is resumed, and gets its answer", async () => {
    const server = await openScriptedServer();
    let asked = 0;
    server.players["tools/call"] = (response, posted) => {
      asked = posted.id ?? 0;
      beginEvents(response, "id: 1\nretry: 1\ndata:\n\n");
      response.end();
    };
    server.players["GET"] = (response, _posted, request) => {
      if (request.headers["last-event-id"] !== "1") return void response.writeHead(405).end();
      beginEvents(response, event({ jsonrpc: "2.0", id: asked, result: { content: [] } }));
    };
    const servers = { s: { url: server.url } };
    const answer = await openSessions().call("shop", servers, callOf("s", "pay"), never());
    expect(answer.isError).toBe(false);
  });

  it("is none, 202, waits where the server may answer on another stream", async () => {
    const server = await openScriptedServer();
    server.players["GET"] = (open) => {
      beginEvents(open);
      server.players["tools/call"] = (response, { id }) => {
        response.writeHead(202).end();
        const content = [{ type: "text", text: "late" }];
        setTimeout(() => open.write(event({ jsonrpc: "2.0", id, result: { content } })), 300);
      };
    };
    const sessions = openSessions();
    const servers = { s: { url: server.url } };
    await sessions.tools("shop", servers, never());
    await expect.poll(() => server.players["tools/call"]).toBeDefined();
    const answer = await sessions.call("shop", servers, callOf("s", "pay"), never());
    expect(answer).toEqual({ text: "late", isError: false });
  });

  it("could be resumed is lost when its server has died", async () => {
    const server = await openScriptedServer({
      "tools/call": (response) => {
        beginEvents(response, "id: 1\nretry: 1\ndata:\n\n");
        setImmediate(() => void server.close());
      },
    });
    const servers = { s: { url: server.url } };
    const answer = await openSessions().call("shop", servers, callOf("s", "pay"), never());
    expect(answer.text).toContain("The connection to the tool was lost");
  });
});

it("C1: a list whose stream ends without it costs no wait", async () => {
  const server = await openScriptedServer({
    "tools/list": (response) => (beginEvents(response), response.end()),
  });
  const sessions = openSessions({ listMs: 3_600_000 });
  expect(await sessions.tools("shop", { s: { url: server.url } }, never())).toEqual([]);
});

it("C1: a connection whose first stream ends without an answer costs no wait", async () => {
  const server = await openScriptedServer({
    initialize: (response) => (beginEvents(response), response.end()),
  });
  const sessions = openSessions({ connectMs: 3_600_000 });
  expect(await sessions.tools("shop", { s: { url: server.url } }, never())).toEqual([]);
});

function event(message: object): string {
  return `data: ${JSON.stringify(message)}\n\n`;
}

function progress(): string {
  return event({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: 1, progress: 1 },
  });
}

it("a call that was answered is not cancelled when its run is over", async () => {
  const server = await openScriptedServer();
  const servers = { s: { url: server.url } };
  const sessions = openSessions();
  const run = new AbortController();
  await sessions.call("shop", servers, callOf("s", "find"), run.signal);
  run.abort();
  await sessions.call("shop", servers, callOf("s", "find"), never());
  expect(server.asked.filter((method) => method.startsWith("notifications/"))).toEqual([
    "notifications/initialized",
  ]);
});
