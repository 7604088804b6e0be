import type { McpServer } from "../../domain/channel.ts";
import { abortable } from "../abortable.ts";
import type { ServerTool } from "../tools.ts";
import { listTools } from "./list-tools.ts";
import { loadSdk } from "./sdk.ts";
import { httpTransport, processTransport } from "./transports.ts";

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

export interface ConnectionOptions {
  /** The server's name in the channel's settings. */
  name: string;
  settings: McpServer;
  timeoutMs: number;
  onToolsChanged: () => void;
  onClosed: () => void;
  /** What the server's process writes to stderr. */
  onStderr: (text: string) => void;
}

const GOODBYE_MS = 1_000;

/** Connects over Streamable HTTP, or starts the server's process. Loads the SDK, on first use. */
export async function openConnection(options: ConnectionOptions): Promise<McpConnection> {
  const { name, settings, timeoutMs, onToolsChanged, onClosed, onStderr } = options;
  const sdk = await loadSdk();
  const client = new sdk.Client({ name: "chat-agent-service", version: "1" }, { capabilities: {} });
  client.onclose = onClosed;
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, onToolsChanged);
  const { transport, endSession } =
    "url" in settings ? httpTransport(sdk, settings) : processTransport(sdk, settings, onStderr);

  try {
    // One deadline over all of it: the SDK's own covers the first request alone.
    await abortable(client.connect(transport), AbortSignal.timeout(timeoutMs));
  } catch (error) {
    await client.close().catch(() => {});
    throw error;
  }

  return {
    listTools: (listMs) =>
      listTools({ server: name, client, schema: sdk.ListToolsResultSchema, timeoutMs: listMs }),

    callTool: ({ tool, arguments: args }, { timeoutMs: callMs, signal }) =>
      // The result's shape is not checked: resultText makes a text of anything.
      client.request({ method: "tools/call", params: { name: tool, arguments: args } }, sdk.ResultSchema, {
        timeout: callMs,
        signal,
      }),

    async close() {
      await abortable(endSession(), AbortSignal.timeout(GOODBYE_MS)).catch(() => {});
      await client.close().catch(() => {});
    },
  };
}
