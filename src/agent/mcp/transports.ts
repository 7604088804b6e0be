import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { McpProcessServer } from "../../domain/channel.ts";
import type { McpSdk } from "./sdk.ts";

/** How a server is reached. */
export interface McpTransport {
  transport: Parameters<Client["connect"]>[0];
  /** Tells the server that the session ends, where there is one to end. */
  endSession: () => Promise<void>;
}

/** How a server elsewhere is addressed, with what the `$NAME`s of its settings stand for. */
export interface HttpAddress {
  url: string;
  headers: Record<string, string>;
  /** Who asks, made for each request; null: nobody is told. */
  bearer: (() => string) | null;
  /** Of the call that is being sent; null: it has none. */
  traceparent: () => string | null;
  /** The service's own credentials; null: it has none. */
  oauth: { clientId: string; clientSecret: string; issuer: string; scope?: string } | null;
}

/** A server elsewhere, over Streamable HTTP. */
export function httpTransport(sdk: McpSdk, address: HttpAddress): McpTransport {
  const http = new sdk.StreamableHTTPClientTransport(new URL(address.url), {
    fetch: addressedFetch(address),
    ...signIn(sdk, address),
  });
  return {
    // The SDK's class declares `sessionId: string | undefined` where its interface has it optional.
    transport: http as McpTransport["transport"],
    endSession: () => http.terminateSession(),
  };
}

/** The same over SSE, as servers spoke before; its packages are loaded where one does. */
export async function sseTransport(sdk: McpSdk, address: HttpAddress): Promise<McpTransport> {
  const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const sse = new SSEClientTransport(new URL(address.url), {
    fetch: addressedFetch(address),
    ...signIn(sdk, address),
  });
  // It would open another stream by itself, whose server knows nothing of this session.
  sse.onerror = () => void sse.close();
  return { transport: sse, endSession: () => Promise.resolve() };
}

/** The settings' headers go to the server itself alone: the SDK also asks its authorization server, by the same fetch. */
function addressedFetch({ url, headers, bearer, traceparent }: HttpAddress): typeof fetch {
  const own = new URL(url).origin;
  return (address, init = {}) => {
    const asked = new URL(address instanceof Request ? address.url : address).origin;
    if (asked !== own) return fetch(address, init);
    const all = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    if (bearer) all.set("authorization", `Bearer ${bearer()}`);
    const trace = traceparent();
    if (trace !== null) all.set("traceparent", trace);
    return fetch(address, { ...init, headers: all });
  };
}

/** A token is fetched where the server answers 401, and again when it has expired. */
function signIn(
  { ClientCredentialsProvider }: McpSdk,
  { oauth }: HttpAddress,
): { authProvider?: InstanceType<McpSdk["ClientCredentialsProvider"]> } {
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
  const stdio = new sdk.StdioClientTransport({ command, args, env, stderr: "pipe" });
  stdio.stderr?.on("data", (chunk: Buffer) => onStderr(chunk.toString()));
  return { transport: stdio, endSession: () => Promise.resolve() };
}
