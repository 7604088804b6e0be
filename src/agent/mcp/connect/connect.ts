import type { Client } from "@modelcontextprotocol/client";
import { abortable } from "../../abortable.ts";
import { addressed } from "./address.ts";
import type { AskingNow } from "./asking.ts";
import { connectFault } from "./connect-fault.ts";
import type { ConnectionOptions } from "./connection-options.ts";
import { isOfOldServer, isOfProbe } from "../fault.ts";
import type { McpSdk } from "./sdk.ts";
import { httpTransport, processTransport, sseTransport } from "./transports.ts";
import type { McpTransport } from "./transports.ts";

/** Connecting and listing are done for all of a channel. */
export const NOBODY = { caller: null, traceparent: null };

export type Connected = Omit<McpTransport, "transport"> & { client: Client };

/** Of the time for connecting, what a server may be silent to the question which revision it speaks: old ones may be. */
const PROBE_SHARE = 1 / 3;

/**
 * Asks with `server/discover` which revision of MCP a server speaks (MCP 2026-07-28, Versioning), and connects by it, or else
 * by `initialize`. A server that knows nothing of Streamable HTTP is asked again over its predecessor, SSE.
 */
export async function connected(
  sdk: McpSdk,
  options: ConnectionOptions,
  asking: AskingNow,
): Promise<Connected> {
  const { settings, timeoutMs, onStderr } = options;
  // One deadline over all of it: the SDK's own covers the first request alone.
  const deadline = AbortSignal.timeout(timeoutMs);
  const by = (transport: McpTransport, mode: "auto" | "legacy") =>
    connectBy(sdk, transport, { ...options, deadline, asking, mode });
  if (!("url" in settings)) return by(processTransport(sdk, settings, onStderr), "auto");

  const address = addressed(settings, options, asking);
  try {
    return await by(httpTransport(sdk, address), "auto").catch((error: unknown) =>
      isOfProbe(error) ? by(httpTransport(sdk, address), "legacy") : Promise.reject(error),
    );
  } catch (error) {
    if (!isOfOldServer(error)) throw error;
    // What the operator is told is why today's protocol failed.
    return by(sseTransport(sdk, address), "legacy").catch(() => Promise.reject(error));
  }
}

async function connectBy(
  sdk: McpSdk,
  { transport, ...rest }: McpTransport,
  {
    onClosed,
    onToolsChanged,
    timeoutMs,
    deadline,
    asking,
    mode,
  }: ConnectionOptions & { deadline: AbortSignal; asking: AskingNow; mode: "auto" | "legacy" },
): Promise<Connected> {
  const client = new sdk.Client(
    { name: "chat-agent-service", version: "1" },
    {
      // Else a server asks nothing, and its tool fails. No visitor answers: they are shown what is asked.
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode, probe: { timeoutMs: Math.ceil(timeoutMs * PROBE_SHARE) } },
      inputRequired: { autoFulfill: false },
    },
  );
  client.onclose = onClosed;
  client.setNotificationHandler("notifications/tools/list_changed", onToolsChanged);
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asking.noteWanted(params);
    return { action: "cancel" };
  });
  asking.watch(transport);
  try {
    await asking.ask(NOBODY, (signal) => abortable(client.connect(transport, { signal }), deadline));
  } catch (error) {
    await client.close().catch(() => {});
    // The client does not have it yet while it asks for the revision.
    await transport.close().catch(() => {});
    await rest.release();
    throw connectFault(error, sdk.revisions);
  }
  listenForChanges(client);
  return { client, ...rest };
}

/** Since 2026-07-28 a server says that its tools changed only to who asked for it. Where it does not, they are listed every few minutes. */
function listenForChanges(client: Client): void {
  if (client.getProtocolEra() !== "modern" || !client.getServerCapabilities()?.tools?.listChanged) return;
  client.listen({ toolsListChanged: true }).catch(() => {});
}
