import { createMcpSessions } from "../../../../src/agent/mcp/sessions.ts";
import type { McpSessions } from "../../../../src/agent/mcp/sessions.ts";
import { SIGN_IN } from "../../../../src/agent/mcp/sign-in/sign-in-tool.ts";
import type { McpHttpServer } from "../../../../src/domain/channels/channel.ts";
import { createLog } from "../../../../src/log.ts";
import { callOf } from "../../tools/call-of.ts";
import { grantsInMemory } from "../grants-in-memory.ts";

/**
 * The service's client, as the conformance suite starts it: lists the tools of the server whose address is the last argument,
 * and calls each; where a visitor must sign in, they follow the link. Ends with 1 where the server cannot be used.
 */
const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Record<string, string>;
const { client_id: clientId, client_secret: clientSecret } = context;

const CALLER = { userId: "u", externalId: null, channel: "cli", thread: "t", isVerified: false };
const CALLBACK = "https://chat.example/v1/mcp/oauth/callback";

const servers = { s: await settingsOf() };
const sessions: McpSessions = createMcpSessions({
  clock: { now: () => Date.now(), elapsed: () => performance.now() },
  log: createLog({ level: "warn", secrets: [], destination: process.stderr }),
  allowsPrivate: () => true,
  signIns: { grants: grantsInMemory(), redirectUrl: CALLBACK },
});
const signal = new AbortController().signal;
const list = () => sessions.tools("cli", servers, signal, CALLER.userId);
const ask = async (name: string, args: Record<string, unknown> = {}, repeatable = false) => {
  const use = { call: callOf("s", name, args, repeatable), caller: CALLER };
  const answer = await sessions.call("cli", servers, use, signal);
  if (answer.shown === undefined) return answer;
  // It may want a wider token for this call.
  await signIn(answer.shown);
  return sessions.call("cli", servers, use, signal);
};

let { tools, missing } = await list();
if (tools.some(({ name }) => name === SIGN_IN)) {
  await ask(SIGN_IN);
  ({ tools, missing } = await list());
}
for (const { name, inputSchema, repeatable } of tools) {
  const properties = (inputSchema["properties"] ?? {}) as Record<string, { type?: string }>;
  const args = Object.fromEntries(
    Object.entries(properties).map(([key, { type }]) => [key, type === "string" ? "text" : 5]),
  );
  const { text, isError } = await ask(name, args, repeatable);
  process.stdout.write(`${name}: ${isError ? "failed: " : ""}${text}\n`);
}
await sessions.close();
process.exitCode = missing.length;

/** What an owner writes into the settings. */
async function settingsOf(): Promise<McpHttpServer> {
  if (!scenario.startsWith("auth/")) return { url };
  const issuer = await issuerOf();
  if (scenario.startsWith("auth/client-credentials")) {
    return {
      url,
      oauth: { clientId: clientId ?? "", clientSecret: clientSecret ?? "", issuer: issuer ?? "" },
    };
  }
  return {
    url,
    oauth: {
      perUser: true,
      ...(issuer === null ? {} : { issuer }),
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientSecret === undefined ? {} : { clientSecret }),
    },
  };
}

/** Where the server says that its authorization server is; null: it does not say. */
async function issuerOf(): Promise<string | null> {
  const { origin, pathname } = new URL(url);
  const refused = await fetch(url, { method: "POST", body: "{}" });
  const told = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1];
  const places = [
    `${origin}/.well-known/oauth-protected-resource${pathname}`,
    `${origin}/.well-known/oauth-protected-resource`,
  ];
  for (const place of [...(told === undefined ? [] : [told]), ...places]) {
    const answer = await fetch(place);
    if (!answer.ok) continue;
    const { authorization_servers: issuers } = (await answer.json()) as { authorization_servers?: string[] };
    return issuers?.[0] ?? null;
  }
  return null;
}

/** A visitor whose browser the authorization server sends back at once. */
async function signIn(link: string): Promise<void> {
  const { headers } = await fetch(link, { redirect: "manual" });
  const query = new URL(headers.get("location") ?? "", link).searchParams;
  const answer = { state: query.get("state") ?? "", code: query.get("code"), iss: query.get("iss") };
  await sessions.finishSignIn?.("cli", servers, answer);
}
