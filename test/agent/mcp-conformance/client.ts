import { createMcpSessions } from "../../../src/agent/mcp/sessions.ts";
import type { McpServer } from "../../../src/domain/channels/channel.ts";
import { createLog } from "../../../src/log.ts";
import { callOf } from "../call-of.ts";

/**
 * The service's client, as the conformance suite starts it: lists the tools of the server whose address is the last argument,
 * and calls each. Ends with 1 where the server cannot be used.
 */
const url = process.argv.at(-1) ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Record<string, string>;
const { client_id: clientId, client_secret: clientSecret } = context;

const server: McpServer = {
  url,
  ...(clientId === undefined || clientSecret === undefined
    ? {}
    : { oauth: { clientId, clientSecret, issuer: await issuerOf(url) } }),
};
const sessions = createMcpSessions({
  clock: { now: () => Date.now(), elapsed: () => performance.now() },
  log: createLog({ level: "warn", secrets: [], destination: process.stderr }),
  allowsPrivate: () => true,
});
const signal = new AbortController().signal;
const { tools, missing } = await sessions.tools("cli", { s: server }, signal);
for (const { name, inputSchema, repeatable } of tools) {
  const properties = (inputSchema["properties"] ?? {}) as Record<string, { type?: string }>;
  const args = Object.fromEntries(
    Object.entries(properties).map(([key, { type }]) => [key, type === "string" ? "text" : 5]),
  );
  const { text, isError } = await sessions.call(
    "cli",
    { s: server },
    { call: callOf("s", name, args, repeatable), caller: null },
    signal,
  );
  process.stdout.write(`${name}: ${isError ? "failed: " : ""}${text}\n`);
}
await sessions.close();
process.exitCode = missing.length;

/** What an owner writes into the settings, since the secret goes nowhere else. */
async function issuerOf(address: string): Promise<string> {
  const { origin, pathname } = new URL(address);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: issuers } = (await answer.json()) as { authorization_servers: string[] };
  return issuers[0] ?? "";
}
