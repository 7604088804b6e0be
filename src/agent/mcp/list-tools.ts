import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { PickedSchema } from "../picked-schema.ts";
import type { ServerTool } from "../tools.ts";

/** A server that pages for ever has as many tools as these pages hold. */
const MAX_LIST_PAGES = 20;
const MAX_TOOLS = 1_000;

type ListedTool = Awaited<ReturnType<typeof listPage>>["tools"][number];

interface Listing {
  /** The server's name in the channel's settings. */
  server: string;
  client: Client;
  /** Of the SDK, which is loaded on first use. */
  schema: typeof ListToolsResultSchema;
  /** For each page. */
  timeoutMs: number;
}

/** All tools of a server, page by page. */
export async function listTools(listing: Listing): Promise<ServerTool[]> {
  if (!listing.client.getServerCapabilities()?.tools) return [];
  const tools: ServerTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_LIST_PAGES && tools.length < MAX_TOOLS; page += 1) {
    const listed = await listPage(listing, cursor);
    // A tool that insists on running as a task cannot be called and answered in one request.
    const usable = listed.tools.filter((tool) => tool.execution?.taskSupport !== "required");
    tools.push(...usable.map((tool) => serverTool(listing.server, tool)));
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MAX_TOOLS);
}

/** Not client.listTools(): it also compiles every output schema, and a bad one would cost all the tools. */
function listPage({ client, schema, timeoutMs }: Listing, cursor: string | undefined) {
  const params = cursor === undefined ? {} : { cursor };
  return client.request({ method: "tools/list", params }, schema, { timeout: timeoutMs });
}

function serverTool(server: string, tool: ListedTool): ServerTool {
  const hints = tool.annotations ?? {};
  return {
    server,
    name: tool.name,
    title: tool.title ?? hints.title ?? null,
    description: tool.description ?? "",
    inputSchema: tool.inputSchema,
    picked: new PickedSchema(tool.inputSchema),
    destructive: hints.destructiveHint === true,
    repeatable: hints.readOnlyHint === true || hints.idempotentHint === true,
  };
}
