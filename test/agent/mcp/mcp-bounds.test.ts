// For src/agent/mcp/connect/guarded-fetch.ts, src/agent/mcp/session.ts, src/agent/mcp/read-tool.ts
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { createLog } from "../../../src/log.ts";
import { Secret } from "../../../src/secret.ts";
import { beginEvents, openScriptedServer, say } from "./scripted-mcp-server.ts";
import type { Player } from "./scripted-mcp-server.ts";
import { callOf, names, never, openSessions } from "./sessions.ts";

const MB = 1_048_576;

/** Sessions, and what they logged. */
function openLogged(...[timeouts, more]: Parameters<typeof openSessions>) {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    secrets: [],
    destination: { write: (line) => void lines.push(line) },
  });
  return { ...openSessions(timeouts, { ...more, log }), lines };
}

/** Writes until the client has read enough: how many bytes left this side, roughly. */
function pour(response: ServerResponse, mostBytes: number): { bytes: () => number } {
  let bytes = 0;
  const piece = "x".repeat(65_536);
  const more = () => {
    while (bytes < mostBytes && !response.destroyed) {
      bytes += piece.length;
      if (!response.write(piece)) return void response.once("drain", more);
    }
    if (!response.destroyed) response.end();
  };
  more();
  return { bytes: () => bytes };
}

const LONG: readonly [string, (poured: { bytes: () => number }[]) => Player][] = [
  [
    "an event of 200 MB",
    (poured) => (response) => {
      beginEvents(response, 'data: {"jsonrpc":"2.0","id":1,"result":{"text":"');
      poured.push(pour(response, 200 * MB));
    },
  ],
  [
    "a body of 200 MB",
    (poured) => (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"jsonrpc":"2.0","id":1,"result":{"text":"');
      poured.push(pour(response, 200 * MB));
    },
  ],
];

it.each(LONG)("G1: of %s no more than a few MB are read, and the call has an end", async (_, player) => {
  const poured: { bytes: () => number }[] = [];
  const server = await openScriptedServer({ "tools/call": player(poured) });
  const servers = { s: { url: server.url } };
  const sessions = openLogged();
  const answer = await sessions.call("shop", servers, callOf("s", "find", {}, true), never());
  expect(answer).toEqual({
    text: "The tool's answer is too long to be read. It has probably done its work.",
    isError: true,
  });
  // Not asked again: it would be as long.
  expect(poured).toHaveLength(1);
  expect(poured[0]?.bytes()).toBeLessThan(40 * MB);
  expect(sessions.lines.join("")).toContain("let the tool answer with less");
});

it.each(LONG)("G1: a list in %s is no list, and the log says why", async (_, player) => {
  const poured: { bytes: () => number }[] = [];
  const server = await openScriptedServer({ "tools/list": player(poured) });
  const sessions = openLogged();
  expect(await sessions.tools("shop", { s: { url: server.url } }, never())).toEqual([]);
  expect(poured[0]?.bytes()).toBeLessThan(40 * MB);
  expect(sessions.lines.join("")).toContain("longer than 4194304 bytes");
});

it("G1: a refusal of 30 MB costs a line of the log and no more", async () => {
  const poured: { bytes: () => number }[] = [];
  const server = await openScriptedServer();
  const sessions = openLogged();
  const servers = { s: { url: server.url } };
  await sessions.tools("shop", servers, never());
  for (const status of [403, 500]) {
    server.players["tools/call"] = (response) => {
      response.writeHead(status, { "content-type": "text/plain" });
      poured.push(pour(response, 30 * MB));
    };
    expect((await sessions.call("shop", servers, callOf("s", "find"), never())).isError).toBe(true);
  }
  expect(poured.map(({ bytes }) => bytes() < 20 * MB)).toEqual([true, true]);
  expect(sessions.lines).toHaveLength(2);
  expect(sessions.lines.join("").length).toBeLessThan(20_000);
});

it("G1: an error of JSON-RPC of 3 MB costs a line of the log and no more", async () => {
  const server = await openScriptedServer({
    initialize: (response, { id }) => {
      response.writeHead(200, { "content-type": "application/json" });
      const error = { code: -32_000, message: "m".repeat(3 * MB), data: { why: "d".repeat(100_000) } };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
    },
  });
  const sessions = openLogged();
  expect(await sessions.tools("shop", { s: { url: server.url } }, never())).toEqual([]);
  expect(sessions.lines.join("").length).toBeLessThan(20_000);
});

it("G1: an event of a thousand small pieces is read once", async () => {
  const server = await openScriptedServer({
    "tools/call": (response, { id }) => {
      beginEvents(response, "event: message\r\ndata: ");
      const text = JSON.stringify({
        jsonrpc: "2.0",
        id,
        result: { content: [{ type: "text", text: "whole" }] },
      });
      for (const char of text) response.write(char);
      response.end("\r\n\r\n");
    },
  });
  const answer = await openSessions().call("shop", { s: { url: server.url } }, callOf("s", "find"), never());
  expect(answer).toEqual({ text: "whole", isError: false });
});

it("G1: a thousand tools of 60 KB are held up to 2 MB", async () => {
  const schema = { type: "object", properties: { a: { type: "string", description: "d".repeat(50_000) } } };
  const tools = Array.from({ length: 60 }, (_, nth) => ({ name: `t${nth}`, inputSchema: schema }));
  const server = await openScriptedServer({
    "tools/list": (response, posted) => say(response, posted, { tools }),
  });
  const sessions = openLogged();
  const offered = names(await sessions.tools("shop", { s: { url: server.url } }, never()));
  expect(offered).toHaveLength(39);
  expect(sessions.odd()[0]?.oddities).toContain(
    'tool "t39" is left out (the tools of its server have more than',
  );
  expect(sessions.lines.join("").length).toBeLessThan(20_000);
});

const ECHOED = { "x-api-key": "canary-literal", "x-shop": "$SHOP_KEY", "x-token": "Basic canary-basic" };

/** How a server may tell what it was sent, to whatever asks it. */
const ECHOES: readonly [string, (response: ServerResponse, id: unknown, text: string) => void][] = [
  ["a refusal", (response, _, text) => void response.writeHead(403).end(text)],
  ["a fault", (response, _, text) => void response.writeHead(500).end(text)],
  [
    "an error of JSON-RPC",
    (response, id, text) => {
      response.writeHead(200, { "content-type": "application/json" });
      const error = { code: -32_603, message: text, data: { text } };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
    },
  ],
  [
    "a failed call",
    (response, id, text) =>
      say(response, { id: Number(id), method: "" }, { isError: true, content: [{ type: "text", text }] }),
  ],
  [
    "a type of its answer",
    (response, _, text) => void response.writeHead(200, { "content-type": text.slice(0, 200) }).end("x"),
  ],
];

it.each(ECHOES)(
  "G12: what a server was sent comes into no line of the log by %s, nor to the model",
  async (_, echo) => {
    const server = await openScriptedServer();
    const play: Player = (response, { id }, request) =>
      echo(
        response,
        id,
        Object.keys(ECHOED)
          .map((name) => `${name}=${String(request.headers[name])}`)
          .join(" "),
      );
    const variable = (name: string) => (name === "SHOP_KEY" ? new Secret("canary-by-name") : null);
    for (const method of ["initialize", "tools/list", "tools/call"]) {
      server.players = { [method]: play };
      const sessions = openLogged({}, { variable });
      const servers = { s: { url: server.url, headers: ECHOED } };
      await sessions.tools("shop", servers, never());
      const { text } = await sessions.call("shop", servers, callOf("s", "find"), never());
      const said = [...sessions.lines, text].join("");
      expect(said).not.toContain("canary");
      expect(said.length).toBeGreaterThan(0);
    }
  },
);
