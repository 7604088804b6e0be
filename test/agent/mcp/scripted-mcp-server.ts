import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A message as the client posted it. */
export interface Posted {
  id?: number;
  method: string;
  params?: Record<string, unknown>;
}

/** Answers a request as it likes. */
export type Player = (response: ServerResponse, posted: Posted, request: IncomingMessage) => void;

/** A Streamable HTTP server over plain sockets, which says what a test writes: what the SDK's own server never would. */
export interface ScriptedMcpServer {
  url: string;
  /** The methods that were posted, and `GET` for each stream that was asked for. */
  asked: string[];
  /** By method; those that are missing are answered as a well-behaved server does. */
  players: Record<string, Player>;
  close(): Promise<void>;
}

/** Closed when the test is over. */
export async function openScriptedServer(players: Record<string, Player> = {}): Promise<ScriptedMcpServer> {
  const http = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      if (request.method !== "POST") {
        playing.asked.push(request.method ?? "");
        const player = playing.players[request.method ?? ""];
        if (player) player(response, { method: "" }, request);
        else response.writeHead(405).end();
        return;
      }
      const posted = JSON.parse(Buffer.concat(pieces).toString()) as Posted;
      playing.asked.push(posted.method);
      const player = playing.players[posted.method] ?? WELL_BEHAVED[posted.method];
      if (player) player(response, posted, request);
      else if (posted.id === undefined) response.writeHead(202).end();
      else sayError(response, posted, { code: -32_601, message: "Method not found" });
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const playing: ScriptedMcpServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    asked: [],
    players,
    async close() {
      if (!http.listening) return;
      const closed = once(http, "close");
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
  onTestFinished(() => playing.close());
  return playing;
}

/** A server whose `tools/list` answers with this. */
export function listing(tools: unknown, more: object = {}): Record<string, Player> {
  return { "tools/list": (response, posted) => say(response, posted, { tools, ...more }) };
}

export function say(response: ServerResponse, { id }: Posted, result: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

export function sayError(response: ServerResponse, { id }: Posted, error: object): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
}

/** The head of an event stream, and its first bytes. */
export function beginEvents(response: ServerResponse, first = ": begun\n\n"): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(first);
}

const WELL_BEHAVED: Record<string, Player> = {
  initialize: (response, posted) =>
    say(response, posted, {
      protocolVersion: posted.params?.["protocolVersion"],
      capabilities: { tools: {} },
      serverInfo: { name: "scripted", version: "1" },
    }),
  "tools/list": (response, posted) =>
    say(response, posted, { tools: [{ name: "find", inputSchema: { type: "object" } }] }),
  "tools/call": (response, posted) => say(response, posted, { content: [{ type: "text", text: "found" }] }),
};
