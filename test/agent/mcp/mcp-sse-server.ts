import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";

/** An MCP server as they were before Streamable HTTP: a stream by GET, whose first event says where to post. */
export interface McpSseServer {
  url: string;
  /** A call of a tool `hang` is never answered. */
  calls: string[];
  /** Of the last message that was posted. */
  headers: IncomingHttpHeaders;
  /** Tears all streams down. */
  drop(): void;
}

export async function openSseServer(tools: Tool[]): Promise<McpSseServer> {
  const open = new Map<string, SSEServerTransport>();
  const http = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://here");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/post", response);
      open.set(transport.sessionId, transport);
      const server = new Server({ name: "old", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
      server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
        playing.calls.push(params.name);
        if (params.name === "hang") await new Promise(() => {});
        return { content: [{ type: "text", text: `${params.name} did it` }] };
      });
      void server.connect(transport);
      return;
    }
    const session = open.get(searchParams.get("sessionId") ?? "");
    if (request.method === "POST" && pathname === "/post" && session) {
      playing.headers = request.headers;
      void session.handlePostMessage(request, response);
      return;
    }
    response.writeHead(pathname === "/sse" ? 405 : 404).end();
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const playing: McpSseServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`,
    calls: [],
    headers: {},
    drop() {
      open.clear();
      http.closeAllConnections();
    },
  };
  onTestFinished(async () => {
    const closed = once(http, "close");
    http.close();
    http.closeAllConnections();
    await closed;
  });
  return playing;
}
