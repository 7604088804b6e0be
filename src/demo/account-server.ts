import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { claimsFrom } from "./identity-claims.ts";
import type { IdentityClaims } from "./identity-claims.ts";

/**
 * The demo's second MCP server, on HTTP: its one tool answers which user asks. It knows this only from the token that the
 * service signs for each call (src/agent, MCP servers), never from a model's text. On loopback, on any free port.
 */
export interface AccountServer {
  url: string;
  close(): Promise<void>;
}

export async function startAccountServer(key: string): Promise<AccountServer> {
  const server = createServer((request, response) => {
    answer(request, response, key).catch(() => response.destroy());
  });
  // Each process has its own server, with its own key.
  server.listen({ port: 0, host: "127.0.0.1", exclusive: true });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("Cannot start the demo's account server: no port");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, key: string): Promise<void> {
  const claims = claimsFrom(request.headers.authorization, { key, nowMs: Date.now() });
  if (claims === null) {
    response.writeHead(401).end();
    return;
  }
  if (request.method !== "POST") {
    // The server sends no notifications, and keeps no session.
    response.writeHead(405, { allow: "POST" }).end();
    return;
  }
  const { transport, server } = await serverFor(claims);
  response.on("close", () => void server.close());
  await transport.handleRequest(request, response);
}

/** A new server for each request: the request's own token says which user asks. */
async function serverFor(claims: IdentityClaims) {
  // Loaded with the first request, so that a start does not wait for it.
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StreamableHTTPServerTransport } =
    await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const server = new McpServer({ name: "chat-agent-demo-account", version: "1" });
  server.registerTool(
    "signed_in_account",
    {
      title: "Signed-in account",
      description: "Which account asks, and whether it is signed in.",
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    () => ({ content: [{ type: "text" as const, text: whoAsks(claims) }] }),
  );
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return { server, transport };
}

function whoAsks({ ext, verified }: IdentityClaims): string {
  if (ext === undefined) return "A visitor asks who is not signed in.";
  return verified
    ? `The account ${ext} asks, and is signed in.`
    : `The account ${ext} is claimed, and not proven.`;
}
