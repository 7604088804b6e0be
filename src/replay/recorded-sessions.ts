import type { McpSessions } from "../agent/mcp/sessions.ts";
import { PickedSchema } from "../agent/tools/picked-schema.ts";
import type { ServerTool } from "../agent/tools/tools.ts";
import type { ReplayCase } from "./case.ts";

/** A case's tools of MCP servers: they are offered to the model, but there is no server to call. */
export function recordedSessions({ tools }: Pick<ReplayCase, "tools">): McpSessions {
  const offered = tools.map((tool): ServerTool => ({
    server: tool.server,
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description,
    inputSchema: tool.inputSchema,
    picked: new PickedSchema(tool.inputSchema),
    repeatable: false,
    readOnly: false,
    destructive: false,
  }));
  return {
    tools: () => Promise.resolve({ tools: offered, missing: [] }),
    call: () => Promise.reject(new Error("Cannot call a tool: a replay reaches no server")),
    ill: () => [],
    odd: () => [],
    close: () => Promise.resolve(),
  };
}
