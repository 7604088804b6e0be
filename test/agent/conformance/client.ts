/**
 * The service's MCP client as the conformance suite plays it: `client.ts URL` lists the server's tools, and calls them as the
 * scenario wants. https://github.com/modelcontextprotocol/conformance
 */
import { systemClock } from "../../../src/clock.ts";
import { createMcpSessions } from "../../../src/agent/mcp/sessions.ts";
import type { McpServers } from "../../../src/agent/mcp/sessions.ts";
import { silentLog } from "../run.ts";

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Record<string, string>;

/** The arguments with which the scenarios want their tools called. */
const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = { add_numbers: { a: 5, b: 3 } };

/** As an owner would know it: here the server says who signs its clients in. */
async function issuer(): Promise<string> {
  const { origin, pathname } = new URL(url);
  for (const path of [`/.well-known/oauth-protected-resource${pathname}`, "/.well-known/oauth-protected-resource"]) {
    const answer = await fetch(origin + path);
    if (!answer.ok) continue;
    const { authorization_servers: servers = [] } = (await answer.json()) as { authorization_servers?: string[] };
    return servers[0] ?? origin;
  }
  return origin;
}

const { client_id: clientId = "", client_secret: clientSecret = "" } = context;
const signsIn = scenario.startsWith("auth/client-credentials");
const servers: McpServers = {
  suite: { url, ...(signsIn ? { oauth: { clientId, clientSecret, issuer: await issuer() } } : {}) },
};
const sessions = createMcpSessions({ clock: systemClock, log: silentLog, allowsPrivate: () => true });
const signal = new AbortController().signal;
const { tools, missing } = await sessions.tools("conformance", servers, signal);
if (missing.length > 0) process.exitCode = 1;
for (const { name } of tools) {
  const call = {
    callId: "c",
    kind: "server" as const,
    server: "suite",
    tool: name,
    arguments: ARGUMENTS[name] ?? {},
    progress: "",
    repeatable: true,
  };
  const { text, isError } = await sessions.call("conformance", servers, { call, caller: null }, signal);
  console.log(`${name}: ${isError ? "failed: " : ""}${text}`);
}
await sessions.close();
