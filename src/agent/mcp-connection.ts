import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { McpServer } from "../domain/channel.ts";
import { abortable } from "./abortable.ts";
import { PickedSchema } from "./picked-schema.ts";
import type { ServerTool } from "./tools.ts";

/** An open connection to an MCP server, as far as tools go. Its calls reject with what the SDK throws. */
export interface McpConnection {
  listTools(timeoutMs: number): Promise<ServerTool[]>;
  /** The result as the server sent it. */
  callTool(
    call: { tool: string; arguments: Record<string, unknown> },
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Record<string, unknown>>;
  /** Ends the session, or the process: within about four seconds. */
  close(): Promise<void>;
}

/** A server that pages for ever has as many tools as these pages hold. */
const MAX_LIST_PAGES = 20;
const MAX_TOOLS = 1_000;
const GOODBYE_MS = 1_000;

/** Connects over Streamable HTTP, or starts the server's process; the SDK is loaded here, on first use. */
export async function openConnection(options: {
  /** The server's name in the channel's settings. */
  name: string;
  settings: McpServer;
  timeoutMs: number;
  onToolsChanged: () => void;
  onClosed: () => void;
  /** What the server's process writes to stderr. */
  onStderr: (text: string) => void;
}): Promise<McpConnection> {
  const { name, settings, timeoutMs, onToolsChanged, onClosed, onStderr } = options;
  const sdk = await loadSdk();
  const client = new sdk.Client({ name: "chat-agent-service", version: "1" }, { capabilities: {} });
  client.onclose = onClosed;
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, onToolsChanged);

  let farewell: StreamableHTTPClientTransport | null = null;
  const connecting = async () => {
    if ("url" in settings) {
      const requestInit = { headers: settings.headers ?? {} };
      const transport = new sdk.StreamableHTTPClientTransport(new URL(settings.url), { requestInit });
      farewell = transport;
      // The SDK's class declares `sessionId: string | undefined` where its interface has it optional.
      await client.connect(transport as Parameters<Client["connect"]>[0]);
    } else {
      const { command, args = [], env = {} } = settings;
      const transport = new sdk.StdioClientTransport({ command, args, env, stderr: "pipe" });
      transport.stderr?.on("data", (chunk: Buffer) => onStderr(chunk.toString()));
      await client.connect(transport);
    }
  };

  try {
    // One deadline over all of it: the SDK's own covers the first request alone.
    await abortable(connecting(), AbortSignal.timeout(timeoutMs));
  } catch (error) {
    await client.close().catch(() => {});
    throw error;
  }

  return {
    async listTools(listMs) {
      if (!client.getServerCapabilities()?.tools) return [];
      const tools: ServerTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_LIST_PAGES && tools.length < MAX_TOOLS; page += 1) {
        // Not client.listTools(): it also compiles every output schema, and a bad one would cost all the tools.
        const listed = await client.request(
          { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
          sdk.ListToolsResultSchema,
          { timeout: listMs },
        );
        for (const tool of listed.tools) {
          // A tool that insists on running as a task cannot be called and answered in one request.
          if (tool.execution?.taskSupport === "required") continue;
          const hints = tool.annotations ?? {};
          tools.push({
            server: name,
            name: tool.name,
            title: tool.title ?? hints.title ?? null,
            description: tool.description ?? "",
            inputSchema: tool.inputSchema,
            picked: new PickedSchema(tool.inputSchema),
            repeatable: hints.readOnlyHint === true || hints.idempotentHint === true,
          });
        }
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
      return tools.slice(0, MAX_TOOLS);
    },

    callTool: ({ tool, arguments: args }, { timeoutMs: callMs, signal }) =>
      // The result's shape is taken as it comes: resultText makes a text of anything.
      client.request({ method: "tools/call", params: { name: tool, arguments: args } }, sdk.ResultSchema, {
        timeout: callMs,
        signal,
      }),

    async close() {
      if (farewell) {
        await abortable(farewell.terminateSession(), AbortSignal.timeout(GOODBYE_MS)).catch(() => {});
      }
      await client.close().catch(() => {});
    },
  };
}

/** 30 MB and a tenth of a second that only channels with MCP servers pay. */
async function loadSdk() {
  const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }, types] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const { ListToolsResultSchema, ResultSchema, ToolListChangedNotificationSchema } = types;
  return {
    Client,
    StdioClientTransport,
    StreamableHTTPClientTransport,
    ListToolsResultSchema,
    ResultSchema,
    ToolListChangedNotificationSchema,
  };
}
