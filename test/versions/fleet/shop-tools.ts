import { startMcpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import type { McpHttpServer } from "../../agent/mcp/mcp-http-server.ts";

/** With `hangs` a call for such an article is never answered. */
const STUCK = "stuck";

/** The MCP server of the conversations: `lookup` may be repeated after a crash, `order` may not. */
export function startShopTools({ hangs }: { hangs: boolean }): Promise<McpHttpServer> {
  const inputSchema = {
    type: "object" as const,
    properties: { article: { type: "string" } },
    required: ["article"],
  };
  const tools = [
    {
      name: "lookup",
      title: "Looks an article up",
      description: "What is known of an article",
      inputSchema,
      annotations: { readOnlyHint: true },
    },
    { name: "order", description: "Orders an article", inputSchema },
  ];
  return startMcpHttpServer([tools], async ({ name, arguments: args }) => {
    const article = String(args?.["article"]);
    if (hangs && article.startsWith(STUCK)) await new Promise(() => {});
    return { content: [{ type: "text", text: toolAnswer(name, article) }] };
  });
}

export function toolAnswer(tool: string, article: string): string {
  return tool === "lookup" ? `Article ${article}: 3 left` : `Article ${article}: ordered`;
}

/** How often a tool was called for an article. */
export function callsFor({ calls }: McpHttpServer, article: string): number {
  return calls.filter(({ arguments: args }) => args?.["article"] === article).length;
}
