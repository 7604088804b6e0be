import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import type { Call } from "../../../machines/run.ts";
import { createMcpSessions } from "../../../src/agent/mcp/sessions.ts";
import type { Caller } from "../../../src/agent/mcp/identity.ts";
import type { McpServers, SessionsOptions } from "../../../src/agent/mcp/sessions.ts";
import { MCP_TIMEOUTS } from "../../../src/agent/mcp/session.ts";
import type { McpTimeouts } from "../../../src/agent/mcp/session.ts";
import { startMcpHttpServer } from "./mcp-http-server.ts";
import type { McpHttpServer } from "./mcp-http-server.ts";
import { silentLog } from "../run.ts";

/** Each its own: the SDK leaves a listener on every signal that it is given. */
export const never = () => new AbortController().signal;

export function openSessions(timeouts: Partial<McpTimeouts> = {}, more: Partial<SessionsOptions> = {}) {
  const clock = { ms: 0 };
  const sessions = createMcpSessions({
    clock: { now: () => clock.ms, elapsed: () => clock.ms },
    log: silentLog,
    allowsPrivate: () => true,
    timeouts: { ...MCP_TIMEOUTS, connectMs: 20_000, ...timeouts },
    ...more,
  });
  onTestFinished(() => sessions.close());
  return {
    clock,
    close: () => sessions.close(),
    ill: () => sessions.ill(),
    odd: () => sessions.odd(),
    offered: (slug: string, servers: McpServers, signal: AbortSignal) =>
      sessions.tools(slug, servers, signal),
    tools: async (slug: string, servers: McpServers, signal: AbortSignal) =>
      (await sessions.tools(slug, servers, signal)).tools,
    call: (
      slug: string,
      servers: McpServers,
      call: Call,
      signal: AbortSignal,
      caller: Caller | null = null,
    ) => sessions.call(slug, servers, { call, caller }, signal),
  };
}

export async function openServer(
  ...[pages, answer]: Parameters<typeof startMcpHttpServer>
): Promise<McpHttpServer> {
  const server = await startMcpHttpServer(pages, answer);
  onTestFinished(() => server.close());
  return server;
}

export function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, inputSchema: { type: "object" }, ...more };
}

export const names = (tools: { name: string }[]) => tools.map(({ name }) => name);

export { callOf } from "../tools/call-of.ts";
