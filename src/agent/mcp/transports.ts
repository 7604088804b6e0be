import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { McpProcessServer } from "../../domain/channel.ts";
import type { McpSdk } from "./sdk.ts";

/** How a server is reached. */
export interface McpTransport {
  transport: Parameters<Client["connect"]>[0];
  /** Tells the server that the session ends, where there is one to end. */
  endSession: () => Promise<void>;
}

/** A server elsewhere, over Streamable HTTP. `bearer`: who asks, made for each request; null: nobody is told. */
export function httpTransport(
  sdk: McpSdk,
  { url, headers }: { url: string; headers: Record<string, string> },
  bearer: (() => string) | null,
): McpTransport {
  const identified = (address: string | URL, init: RequestInit = {}) => {
    const all = new Headers(init.headers);
    if (bearer) all.set("authorization", `Bearer ${bearer()}`);
    return fetch(address, { ...init, headers: all });
  };
  const http = new sdk.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    ...(bearer ? { fetch: identified } : {}),
  });
  return {
    // The SDK's class declares `sessionId: string | undefined` where its interface has it optional.
    transport: http as McpTransport["transport"],
    endSession: () => http.terminateSession(),
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
