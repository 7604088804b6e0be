// For src/agent/mcp/connect/guarded-fetch.ts, src/agent/mcp/session.ts
import { expect, test } from "vitest";
import { agentSchema } from "../../../src/domain/channels/channel-fields.ts";
import { Secret } from "../../../src/secret.ts";
import { callOf, names, never, openServer, openSessions, tool } from "./sessions.ts";
import { openTokenServer } from "./token-server.ts";

const variable = (name: string) =>
  ({ ID: new Secret("chat"), SECRET: new Secret("s3cret"), KEY: new Secret("for the server alone") })[name] ??
  null;

/** An MCP server that wants a token, and the authorization server that gives it. */
async function openGuarded() {
  const auth = await openTokenServer("chat", "s3cret");
  const server = await openServer([[tool("find")]]);
  server.tokens = auth.tokens;
  server.issuer = auth.issuer;
  const oauth = { clientId: "$ID", clientSecret: "$SECRET", issuer: auth.issuer, scope: "tools" };
  return { auth, server, settings: { url: server.url, headers: { "x-key": "$KEY" }, oauth } };
}

test("a server that wants a token is called with the service's own, which is fetched once", async () => {
  const { auth, server, settings } = await openGuarded();
  const sessions = openSessions({}, { variable });
  expect(names(await sessions.tools("shop", { s: settings }, never()))).toEqual(["find"]);
  const answer = await sessions.call("shop", { s: settings }, callOf("s", "find"), never());
  expect(answer).toEqual({ text: "find did it", isError: false });
  expect(auth.asked).toHaveLength(1);
  expect(auth.asked[0]?.form).toMatchObject({
    grant_type: "client_credentials",
    scope: "tools",
    resource: server.url,
  });
  expect(server.headers["x-key"]).toBe("for the server alone");
  // The settings' headers are the server's, and not the authorization server's.
  expect(auth.asked[0]?.headers["x-key"]).toBeUndefined();
});

test("a token that is no longer taken is replaced, and calls at the same time are made once each", async () => {
  const { auth, server, settings } = await openGuarded();
  const sessions = openSessions({}, { variable });
  await sessions.tools("shop", { s: settings }, never());
  auth.tokens.clear();
  const calls = Array.from({ length: 5 }, () =>
    sessions.call("shop", { s: settings }, callOf("s", "find"), never()),
  );
  expect(await Promise.all(calls)).toEqual(Array(5).fill({ text: "find did it", isError: false }));
  expect(server.calls).toHaveLength(5);
  expect(auth.asked.length).toBeGreaterThan(1);
});

test("a call that a server refuses for want of a token was not made", async () => {
  const server = await openServer([[tool("pay")]]);
  const sessions = openSessions();
  const servers = { s: { url: server.url } };
  await sessions.tools("shop", servers, never());
  server.tokens = new Set();
  const answer = await sessions.call("shop", servers, callOf("s", "pay"), never());
  expect(answer).toEqual({ text: "The tool cannot be reached at the moment.", isError: true });
});

test("wrong credentials, an unset variable and another issuer keep the server's tools away", async () => {
  const { auth, server, settings } = await openGuarded();
  const { oauth } = settings;
  for (const wrong of [
    { ...oauth, clientSecret: "wrong" },
    { ...oauth, clientSecret: "$NONE" },
    { ...oauth, issuer: "http://127.0.0.1:9" },
  ]) {
    const { tools, missing } = await openSessions({}, { variable }).offered(
      "shop",
      { s: { ...settings, oauth: wrong } },
      never(),
    );
    expect([tools, missing]).toEqual([[], ["s"]]);
  }
  expect(auth.tokens.size).toBe(0);
  // Of the third: the secret went nowhere, though the MCP server named that authorization server.
  expect(auth.asked.every(({ authorization }) => authorization === `Basic ${btoa("chat:wrong")}`)).toBe(true);
  expect(server.calls).toEqual([]);
});

test.each<[what: string, more: object, isTaken: boolean]>([
  ["alone", {}, true],
  ["beside other headers", { headers: { "x-key": "k" } }, true],
  ["beside an authorization header", { headers: { Authorization: "Bearer x" } }, false],
  ["beside identity", { identity: { key: "$KEY" } }, false],
  ["without an issuer", { oauth: { clientId: "a", clientSecret: "b" } }, false],
])("oauth %s is taken or refused", (_what, more, isTaken) => {
  const oauth = { clientId: "a", clientSecret: "b", issuer: "https://auth.example" };
  const mcpServers = { s: { url: "https://x.example/mcp", oauth, ...more } };
  expect(agentSchema.safeParse({ mcpServers }).success).toBe(isTaken);
});
