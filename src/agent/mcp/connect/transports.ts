import type { AuthProvider, Transport } from "@modelcontextprotocol/client";
import type { McpProcessServer } from "../../../domain/channels/channel.ts";
import type { Asking } from "./asking.ts";
import { createGuardedFetch, MOST_ANSWER_BYTES } from "./guarded-fetch.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import type { McpSdk } from "./sdk.ts";
import type { VisitorTokens } from "../sign-in/visitor-oauth.ts";

/** How a server is reached. */
export interface McpTransport {
  transport: Transport;
  /** Its name, for the owner. */
  over: "stdio" | "Streamable HTTP" | "SSE";
  /** Tells the server that the session ends, where there is one to end. */
  endSession: () => Promise<void>;
  /** Closes what is left when the transport is closed. */
  release: () => Promise<void>;
}

/** How a server elsewhere is addressed, with what the `$NAME`s of its settings stand for. */
export interface HttpAddress {
  url: string;
  /** True: it may be a private address. */
  allowsPrivate: boolean;
  /** The longest wait for an answer. */
  longestMs: number;
  /** Which request is being sent. */
  asking: () => Asking | null;
  headers: Record<string, string>;
  /** Who asks, made for each request; null: nobody is told. */
  bearer: (() => string) | null;
  /** The service's own credentials; null: it has none. */
  oauth: { clientId: string; clientSecret: string; issuer: string; scope?: string } | null;
  /** The authorization server of the settings; null: the server's own origin. */
  issuer: string | null;
  /** A visitor's tokens; null: the connection is for all. */
  visitor: VisitorTokens | null;
}

/** The SDK's own but for the first pause: whoever waits for an answer must know within a second that no answer comes. */
const RESUMING = {
  initialReconnectionDelay: 900,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};

/** A server elsewhere, over Streamable HTTP. */
export function httpTransport(sdk: McpSdk, address: HttpAddress): McpTransport {
  const guarded = guardedFetch(address);
  const http = new sdk.StreamableHTTPClientTransport(new URL(address.url), {
    fetch: addressedFetch(guarded.fetch, address),
    reconnectionOptions: RESUMING,
    ...signIn(sdk, address),
  });
  return {
    transport: http,
    over: "Streamable HTTP",
    endSession: () => http.terminateSession(),
    release: () => guarded.close(),
  };
}

/** The same over SSE, as servers spoke before. */
export function sseTransport(sdk: McpSdk, address: HttpAddress): McpTransport {
  const guarded = guardedFetch(address);
  const sse = new sdk.SSEClientTransport(new URL(address.url), {
    fetch: addressedFetch(guarded.fetch, address),
    ...signIn(sdk, address),
  });
  // It would open another stream by itself, whose server knows nothing of this session.
  sse.onerror = () => void sse.close();
  return { transport: sse, over: "SSE", endSession: nothing, release: () => guarded.close() };
}

function guardedFetch({ url, issuer, allowsPrivate, longestMs, asking }: HttpAddress): GuardedFetch {
  return createGuardedFetch({ url, issuer, allowsPrivate, longestMs, asking });
}

/** The settings' headers go to the server itself alone: the SDK also asks its authorization server, by the same fetch. */
function addressedFetch(
  send: typeof fetch,
  { url, headers, bearer, asking, visitor }: HttpAddress,
): typeof fetch {
  const own = new URL(url).origin;
  return async (address, init = {}) => {
    const asked = new URL(address instanceof Request ? address.url : address).origin;
    if (asked !== own) return send(address, init);
    const all = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    if (bearer) all.set("authorization", `Bearer ${bearer()}`);
    const trace = asking()?.traceparent ?? null;
    if (trace !== null) all.set("traceparent", trace);
    const response = await send(address, { ...init, headers: all });
    if (response.status === 403) await visitor?.noteForbidden(response);
    return response;
  };
}

/** A token is fetched where the server answers 401, and again when it has expired. */
function signIn(
  { ClientCredentialsProvider }: McpSdk,
  { oauth, visitor }: HttpAddress,
): { authProvider?: InstanceType<McpSdk["ClientCredentialsProvider"]> | AuthProvider } {
  if (visitor) return { authProvider: visitor.provider };
  if (oauth === null) return {};
  const { clientId, clientSecret, issuer, scope } = oauth;
  const clientName = "chat-agent-service";
  return {
    authProvider: new ClientCredentialsProvider({
      clientId,
      clientSecret,
      clientName,
      expectedIssuer: issuer,
      ...(scope === undefined ? {} : { scope }),
    }),
  };
}

/** A process of this machine, over its standard input and output. */
export function processTransport(
  sdk: McpSdk,
  { command, args = [], env = {} }: McpProcessServer,
  onStderr: (text: string) => void,
): McpTransport {
  const maxBufferSize = MOST_ANSWER_BYTES;
  const stdio = new sdk.StdioClientTransport({ command, args, env, stderr: "pipe", maxBufferSize });
  stdio.stderr?.on("data", (chunk: Buffer) => onStderr(chunk.toString()));
  return { transport: stdio, over: "stdio", endSession: nothing, release: nothing };
}

async function nothing(): Promise<void> {}
