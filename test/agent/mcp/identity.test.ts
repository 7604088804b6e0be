// For src/agent/mcp/identity.ts
import { createHmac, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../../src/agent/create-agent.ts";
import { systemClock } from "../../../src/clock.ts";
import { identityToken } from "../../../src/agent/mcp/identity.ts";
import { Secret } from "../../../src/secret.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import type { McpHttpServer } from "./mcp-http-server.ts";
import { channelWith, silentLog } from "../run.ts";
import { callOf, never, openServer, openSessions, tool } from "./sessions.ts";

const caller = { userId: "u_1", externalId: "ada", channel: "shop", thread: "t_1", isVerified: true };
const decoded = (part: string | undefined) =>
  JSON.parse(Buffer.from(part ?? "", "base64url").toString()) as unknown;

test("a secret signs with HS256, for a minute", () => {
  const token = identityToken(new Secret("s3cret"), { channel: "shop", caller, nowMs: 1_800_000_000_500 });
  const [head, claims, signature] = token.split(".");
  expect(decoded(head)).toEqual({ alg: "HS256", typ: "JWT" });
  expect(decoded(claims)).toEqual({
    iss: "chat-agent-service",
    iat: 1_800_000_000,
    exp: 1_800_000_060,
    sub: "u_1",
    ext: "ada",
    channel: "shop",
    thread: "t_1",
    verified: true,
  });
  expect(signature).toBe(createHmac("sha256", "s3cret").update(`${head}.${claims}`).digest("base64url"));
});

test("a private key signs with EdDSA, also as one line of an environment", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString().replaceAll("\n", "\\n");
  const token = identityToken(new Secret(pem), { channel: "shop", caller, nowMs: 0 });
  const [head, claims, signature = ""] = token.split(".");
  expect(decoded(head)).toEqual({ alg: "EdDSA", typ: "JWT" });
  const isSigned = verify(
    null,
    Buffer.from(`${head}.${claims}`),
    createPublicKey(privateKey),
    Buffer.from(signature, "base64url"),
  );
  expect(isSigned).toBe(true);
});

test("an anonymous visitor has no external id", () => {
  const anonymous = { ...caller, externalId: null, isVerified: false };
  const token = identityToken(new Secret("s"), { channel: "shop", caller: anonymous, nowMs: 0 });
  expect(decoded(token.split(".")[1])).not.toHaveProperty("ext");
});

test("each call carries its own caller, though calls share a connection; listing has none", async () => {
  let release = () => {};
  const both = new Promise<void>((resolve) => (release = resolve));
  const server = await openServer([[tool("whoami")]], async () => {
    if (server.calls.length === 2) release();
    await both;
    return { content: [{ type: "text", text: "ok" }] };
  });
  const seen: unknown[] = [];
  Object.defineProperty(server, "headers", {
    set({ authorization }: McpHttpServer["headers"]) {
      seen.push(claimsIn(authorization));
    },
  });
  const servers = { s: { url: server.url, identity: { key: "$MCP_IDENTITY_KEY" } } };
  const variable = (name: string) => (name === "MCP_IDENTITY_KEY" ? new Secret("s3cret") : null);
  const sessions = openSessions({}, { variable });
  await sessions.tools("shop", servers, never());
  expect(seen.length).toBeGreaterThan(0);
  for (const claims of seen.splice(0)) {
    expect(claims).toMatchObject({ channel: "shop" });
    expect(claims).not.toHaveProperty("sub");
  }
  const ask = (userId: string) =>
    sessions.call("shop", servers, callOf("s", "whoami"), never(), { ...caller, userId });
  await Promise.all([ask("u_1"), ask("u_2")]);
  const users = seen.flatMap((claims) => (claims as { sub?: string }).sub ?? []);
  expect(new Set(users)).toEqual(new Set(["u_1", "u_2"]));
});

test.each([
  ["an anonymous visitor of a page", "widget", null, false],
  ["a visitor whom identify has bound", "widget", "ada", true],
  ["whoever a backend says it is", "server", "ada", true],
] as const)("%s is verified, or not", async (_who, api, externalId, verified) => {
  const server = await openServer([[tool("whoami")]]);
  const { model } = await openScriptedModel([]);
  const mcpServers = { s: { url: server.url, identity: { key: "$MCP_IDENTITY_KEY" } } };
  const agent = createAgent({
    allowsPrivate: () => true,
    model,
    channel: () => channelWith({ mcpServers }),
    defaultModel: "m",
    maxInputTokens: 1_000,
    clock: systemClock,
    log: silentLog,
    variable: () => new Secret("s3cret"),
    findUser: (slug, userId) => Promise.resolve(slug === "shop" ? { userId, externalId } : null),
  });
  onTestFinished(() => agent.close());
  await agent.useTool("shop", callOf("s", "whoami"), never(), { userId: "u_1", uid: "t_1", api });
  const claims = claimsIn(server.headers["authorization"]);
  expect(claims).toMatchObject({ sub: "u_1", channel: "shop", thread: "t_1", verified });
  expect((claims as { ext?: string }).ext ?? null).toBe(externalId);
});

test("a key that is unset keeps the server's tools away", async () => {
  const server = await openServer([[tool("whoami")]]);
  const servers = { s: { url: server.url, identity: { key: "$MCP_IDENTITY_KEY" } } };
  const sessions = openSessions();
  expect(await sessions.offered("shop", servers, never())).toEqual({ tools: [], missing: ["s"] });
  expect(sessions.ill()).toEqual([
    {
      channel: "shop",
      server: "s",
      fault: "Cannot use an MCP server: MCP_IDENTITY_KEY is unset, or no variable that its channel may name",
    },
  ]);
});

function claimsIn(authorization: string | string[] | undefined): unknown {
  const [, token = ""] = /^Bearer (.+)$/.exec(String(authorization)) ?? [];
  return decoded(token.split(".")[1]);
}
