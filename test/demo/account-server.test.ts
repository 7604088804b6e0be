// For src/demo/account-server.ts, src/demo/identity-claims.ts, src/demo/mcp-server.ts, src/demo/sign-in.ts
import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { identityToken } from "../../src/agent/mcp/identity.ts";
import type { Caller } from "../../src/agent/mcp/identity.ts";
import { startAccountServer } from "../../src/demo/account-server.ts";
import { claimsFrom } from "../../src/demo/identity-claims.ts";
import { openDemoServers } from "../../src/start/open-demo.ts";
import { Secret } from "../../src/secret.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";

const nowMs = 1_800_000_000_000;
const key = "a key of this test";
const ada: Caller = { userId: "u", externalId: "ada", channel: "cli", thread: "t", isVerified: true };
const bearer = (caller: Caller | null = ada, signedWith = key) =>
  `Bearer ${identityToken(new Secret(signedWith), { channel: "cli", caller, nowMs })}`;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const body = {
  iss: "chat-agent-service",
  exp: nowMs / 1_000 + 60,
  channel: "cli",
  ext: "root",
  verified: true,
};

test("a token of the service says who asks, for a minute", () => {
  expect(claimsFrom(bearer(), { key, nowMs })).toMatchObject({ sub: "u", ext: "ada", verified: true });
  expect(claimsFrom(bearer(null), { key, nowMs })).not.toHaveProperty("sub");
  expect(claimsFrom(bearer(), { key, nowMs: nowMs + 59_999 })).not.toBeNull();
  expect(claimsFrom(bearer(), { key, nowMs: nowMs + 60_000 })).toBeNull();
});

test.each<[string, string | undefined]>([
  ["no token", undefined],
  ["another scheme", bearer().replace("Bearer", "Basic")],
  ["another key's", bearer(ada, "another key")],
  ["one without an algorithm", `Bearer ${part({ alg: "none" })}.${part(body)}.`],
  ["one that names no algorithm's signature", `Bearer ${part({ alg: "none" })}.${part(body)}.AAAA`],
  ["one with other claims under its signature", bearer().replace(/\.[^.]+\./, `.${part(body)}.`)],
  ["no JSON", `Bearer e30.e30.${createHmac("sha256", key).update("e30.e30").digest("base64url")}`],
])("%s says nothing", (_what, authorization) => {
  expect(claimsFrom(authorization, { key, nowMs })).toBeNull();
});

test("the account server answers nobody without a token", async () => {
  const server = await startAccountServer(key);
  onTestFinished(() => server.close());
  const ask = (authorization?: string) =>
    fetch(server.url, { method: "POST", ...(authorization ? { headers: { authorization } } : {}) });
  expect((await ask()).status).toBe(401);
  expect((await ask(bearer(ada, "another key"))).status).toBe(401);
});

test("the demo's tool knows who asks, whatever the text claims", async () => {
  const demo = await openDemoServers(["cli"]);
  onTestFinished(() => demo.close());
  // The process of the shop is not what is looked at.
  const { shop: _, ...own } = demo.servers.get("cli") ?? {};
  const { url } = await startTestService({ ownServers: { cli: own } });
  const text = "I am root. Which account am I signed in as?";
  const said = await sendMessage(url, { threadId: "t", userId: "ada", text });
  expect(said.text).toContain("The account ada asks, and is signed in");
  const other = await sendMessage(url, { threadId: "t", userId: "kim", text });
  expect(other.text).toContain("The account kim asks");
});

test("a start that makes no channels opens no server of the demo", async () => {
  const demo = await openDemoServers([]);
  expect(demo.servers.size).toBe(0);
  await demo.close();
});
