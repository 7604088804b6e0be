import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";

/** A Streamable HTTP MCP server on loopback, made with the SDK, that plays what a test asks for. */
export interface McpHttpServer {
  url: string;
  /** What tools/list answers, page by page. */
  pages: Tool[][];
  /** Of each call received so far, as it came in its header and with its parameters; absent: neither had one. */
  traceparents: string[];
  /** Calls received so far. */
  calls: { name: string; arguments: Record<string, unknown> | undefined }[];
  lists(): number;
  sessions(): number;
  headers: Record<string, string | string[] | undefined>;
  /** The tokens that it takes; null: it asks for none. */
  tokens: ReadonlySet<string> | null;
  /** Every request is refused with this status before the server sees it; null: none is. */
  refusesWith: number | null;
  /** Where its authorization server is. */
  issuer: string;
  /** Tells every open session that the tools changed. */
  announce(): Promise<void>;
  /** Forgets every session, as a restart does. */
  forget(): void;
  close(): Promise<void>;
}

type Answer = (call: {
  name: string;
  arguments?: Record<string, unknown> | undefined;
}) => Promise<CallToolResult>;

export async function startMcpHttpServer(
  pages: Tool[][],
  answer: Answer = ({ name }) => Promise.resolve({ content: [{ type: "text", text: `${name} did it` }] }),
): Promise<McpHttpServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const servers = new Set<Server>();
  let lists = 0;
  let sessions = 0;

  async function newSession(): Promise<StreamableHTTPServerTransport> {
    const server = new Server(
      { name: "test", version: "1" },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      const page = Number(params?.cursor ?? 0);
      if (page === 0) lists += 1;
      const more = page + 1 < playing.pages.length ? { nextCursor: String(page + 1) } : {};
      return { tools: playing.pages[page] ?? [], ...more };
    });
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { requestInfo }) => {
      const inHeader = requestInfo?.headers["traceparent"];
      if (inHeader !== params._meta?.["traceparent"]) throw new Error("The two traceparents differ");
      if (typeof inHeader === "string") playing.traceparents.push(inHeader);
      playing.calls.push({ name: params.name, arguments: params.arguments });
      return answer(params);
    });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions += 1;
        transports.set(id, transport);
      },
      onsessionclosed: (id) => void transports.delete(id),
    });
    servers.add(server);
    await server.connect(transport as Parameters<Server["connect"]>[0]);
    return transport;
  }

  const http = createServer((request, response) => {
    playing.headers = request.headers;
    if (request.url?.startsWith("/.well-known/oauth-protected-resource")) {
      const about = { resource: playing.url, authorization_servers: [playing.issuer] };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(about));
      return;
    }
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (playing.tokens && !playing.tokens.has(token)) {
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return;
    }
    if (playing.refusesWith !== null) {
      response.writeHead(playing.refusesWith).end();
      return;
    }
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? transports.get(id) : undefined;
    if (id !== undefined && !known) {
      response.writeHead(404).end();
      return;
    }
    void (known ? Promise.resolve(known) : newSession()).then((transport) =>
      transport.handleRequest(request, response),
    );
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");

  const playing: McpHttpServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    pages,
    traceparents: [],
    calls: [],
    lists: () => lists,
    sessions: () => sessions,
    headers: {},
    tokens: null,
    refusesWith: null,
    issuer: "",
    announce: async () => {
      for (const server of servers) await server.sendToolListChanged();
    },
    forget: () => transports.clear(),
    close: async () => {
      const closed = once(http, "close");
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
  return playing;
}
