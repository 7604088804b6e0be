import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { McpHttpServer, McpServer } from "../../domain/channels/channel.ts";
import { variableName } from "../../domain/channels/channel-variables.ts";
import { createHider } from "../../log.ts";
import { Secret } from "../../secret.ts";
import { abortable } from "../abortable.ts";
import { AskingNow } from "./asking.ts";
import { isOfOldServer } from "./fault.ts";
import { hideInErrors } from "./hidden-error.ts";
import { identityToken } from "./identity.ts";
import type { Caller } from "./identity.ts";
import { listTools } from "./list-tools.ts";
import type { ListedTools } from "./list-tools.ts";
import { loadSdk } from "./sdk.ts";
import type { McpSdk } from "./sdk.ts";
import { connectFault } from "./connect-fault.ts";
import { Unusable } from "./unusable.ts";
import { httpTransport, processTransport, sseTransport } from "./transports.ts";
import type { HttpAddress, McpTransport } from "./transports.ts";

/** An open connection to an MCP server, as far as tools go. Its calls reject with what the SDK throws. */
export interface McpConnection {
  listTools(timeoutMs: number): Promise<ListedTools>;
  /** The result as the server sent it. */
  callTool(
    call: { tool: string; arguments: Record<string, unknown> },
    options: { timeoutMs: number; signal: AbortSignal; caller: Caller | null; traceparent: string | null },
  ): Promise<Record<string, unknown>>;
  /** Ends the session, or the process: within about four seconds. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** The server's name in the channel's settings. */
  name: string;
  /** The channel that asks. */
  channel: string;
  /** A variable that the settings name as `$NAME`; null where it is unset, or not the channel's to name. */
  variable: (name: string) => Secret | null;
  settings: McpServer;
  timeoutMs: number;
  /** How long a call may take. */
  callMs: number;
  /** True: its address may be private. */
  allowsPrivate: boolean;
  onToolsChanged: () => void;
  onClosed: () => void;
  /** What the server's process writes to stderr. */
  onStderr: (text: string) => void;
}

const GOODBYE_MS = 1_000;
/** A call that reports progress for ever ends here. */
const LONGEST_CALL_MS = 600_000;

/** Connects over HTTP, or starts the server's process. Loads the SDK, on first use. */
export async function openConnection(options: ConnectionOptions): Promise<McpConnection> {
  const { name } = options;
  const sdk = await loadSdk();
  const asking = new AskingNow();
  const hideText = createHider(secretsOf(options));
  const hide = hideInErrors(hideText);
  const hidden = (error: unknown) => Promise.reject(hide(error));
  const { client, endSession, release } = await connected(
    sdk,
    { ...options, onStderr: (text) => options.onStderr(hideText(text)) },
    asking,
  ).catch(hidden);

  return {
    listTools: (listMs) => {
      const { ResultSchema: schema } = sdk;
      const tools = client.getServerCapabilities()?.tools;
      if (!tools) return Promise.resolve({ tools: [], odd: [] });
      return listTools(name, (params) =>
        asking.ask(NOBODY, (signal) =>
          client.request({ method: "tools/list", params }, schema, { timeout: listMs, signal }),
        ),
      ).catch(hidden);
    },

    callTool: ({ tool, arguments: args }, { timeoutMs: callMs, signal, caller, traceparent }) => {
      // The one place where a server that is a process can read it.
      const traced = traceparent === null ? {} : { _meta: { traceparent } };
      const params = { name: tool, arguments: args, ...traced };
      // The result's shape is not checked: a text is made of anything.
      const asked = asking.ask(
        { caller, traceparent },
        (lost) =>
          client.request({ method: "tools/call", params }, sdk.ResultSchema, {
            timeout: callMs,
            signal: lost,
            // A tool that says how far it is may take longer.
            onprogress() {},
            resetTimeoutOnProgress: true,
            maxTotalTimeout: Math.max(callMs, LONGEST_CALL_MS),
          }),
        signal,
      );
      return asked.then(
        (result) => (result["isError"] === true ? textHidden(result, hideText) : result),
        hidden,
      );
    },

    async close() {
      await abortable(endSession(), AbortSignal.timeout(GOODBYE_MS)).catch(() => {});
      await client.close().catch(() => {});
      await release();
    },
  };
}

/** Connecting and listing are done for all of a channel. */
const NOBODY = { caller: null, traceparent: null };

type Connected = Omit<McpTransport, "transport"> & { client: Client };

/** A server that knows nothing of Streamable HTTP is asked again over its predecessor, SSE. */
async function connected(sdk: McpSdk, options: ConnectionOptions, asking: AskingNow): Promise<Connected> {
  const { settings, timeoutMs, onStderr } = options;
  // One deadline over all of it: the SDK's own covers the first request alone.
  const deadline = AbortSignal.timeout(timeoutMs);
  if (!("url" in settings)) {
    return connectBy(sdk, processTransport(sdk, settings, onStderr), { ...options, deadline, asking });
  }
  const address = addressed(settings, options, asking);
  try {
    return await connectBy(sdk, httpTransport(sdk, address), { ...options, deadline, asking });
  } catch (error) {
    if (!isOfOldServer(error)) throw error;
    const sse = await sseTransport(sdk, address);
    // What the operator is told is why today's protocol failed.
    return connectBy(sdk, sse, { ...options, deadline, asking }).catch(() => Promise.reject(error));
  }
}

async function connectBy(
  sdk: McpSdk,
  { transport, endSession, release }: McpTransport,
  {
    onClosed,
    onToolsChanged,
    deadline,
    asking,
  }: ConnectionOptions & { deadline: AbortSignal; asking: AskingNow },
): Promise<Connected> {
  const client = new sdk.Client({ name: "chat-agent-service", version: "1" }, { capabilities: {} });
  client.onclose = onClosed;
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, onToolsChanged);
  // The SDK calls it before its own.
  transport.onmessage = (message) => {
    if ("result" in message || "error" in message) asking.present?.unanswered.delete(message.id);
  };
  try {
    await asking.ask(NOBODY, (signal) => abortable(client.connect(transport, { signal }), deadline));
  } catch (error) {
    await client.close().catch(() => {});
    await release();
    throw connectFault(error, sdk.SUPPORTED_PROTOCOL_VERSIONS);
  }
  return { client, endSession, release };
}

/** The settings with what their `$NAME`s stand for. */
function addressed(
  { url, headers = {}, oauth, identity }: McpHttpServer,
  { channel, variable, allowsPrivate, callMs }: ConnectionOptions,
  asking: AskingNow,
): HttpAddress {
  const plain = (value: string) => resolved(value, variable).reveal();
  return {
    url,
    allowsPrivate,
    longestMs: Math.max(callMs, LONGEST_CALL_MS),
    asking: () => asking.present,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, plain(value)])),
    bearer: identity ? bearerOf(resolved(identity.key, variable), channel, asking) : null,
    oauth: oauth
      ? { ...oauth, clientId: plain(oauth.clientId), clientSecret: plain(oauth.clientSecret) }
      : null,
  };
}

/** A tool that fails tells why in its result: with the header that it did not like, too. */
function textHidden(
  result: Record<string, unknown>,
  hide: (text: string) => string,
): Record<string, unknown> {
  return JSON.parse(hide(JSON.stringify(result))) as Record<string, unknown>;
}

/** What the settings tell the server alone, as it stands there and as what its `$NAME`s stand for. */
function secretsOf({ settings, variable }: ConnectionOptions): Secret[] {
  const values =
    "url" in settings
      ? [
          ...Object.values(settings.headers ?? {}),
          ...(settings.oauth ? [settings.oauth.clientSecret] : []),
          ...(settings.identity ? [settings.identity.key] : []),
        ]
      : Object.values(settings.env ?? {});
  return values.flatMap((value) => {
    const name = variableName(value);
    const text = name === null ? value : variable(name)?.reveal();
    // `Bearer x` may come back without its first word.
    return text === undefined ? [] : [text, ...text.split(" ").slice(1)].map((part) => new Secret(part));
  });
}

function bearerOf(key: Secret, channel: string, asking: AskingNow): () => string {
  return () => identityToken(key, { channel, caller: asking.present?.caller ?? null, nowMs: Date.now() });
}

function resolved(value: string, variable: ConnectionOptions["variable"]): Secret {
  const name = variableName(value);
  if (name === null) return new Secret(value);
  const secret = variable(name);
  if (secret === null) {
    throw new Unusable(
      `Cannot use an MCP server: ${name} is unset, or no variable that its channel may name`,
    );
  }
  return secret;
}
