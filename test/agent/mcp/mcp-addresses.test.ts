// For src/agent/mcp/connect/transports.ts, src/agent/mcp/connect/guarded-fetch.ts
import { describe, expect, it, test } from "vitest";
import { createMcpSessions } from "../../../src/agent/mcp/sessions.ts";
import { systemClock } from "../../../src/clock.ts";
import type { McpServer } from "../../../src/domain/channels/channel.ts";
import { shopChannel } from "../../models/shopper.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { sendMessage, startTestService, TEST_KEY } from "../../support/servers/service.ts";
import { silentLog } from "../run.ts";
import { openScriptedServer } from "./scripted-mcp-server.ts";
import { names, never, openServer, openSessions, tool } from "./sessions.ts";
import { openTokenServer } from "./token-server.ts";

const CLOSED =
  "its address is not public; CHANNELS_FILE of this instance may name such a server, and MCP_PRIVATE=on allows it to everybody";

/** Sessions that may connect to public addresses alone, but for what `named` says. */
function openGuarded(named: readonly McpServer[] = []) {
  return createMcpSessions({
    clock: systemClock,
    log: silentLog,
    allowsPrivate: (_, server) => named.includes(server),
  });
}

describe("G11: an MCP server on a private address", () => {
  it.each(["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"])(
    "as %s is not connected to, and the operator is told what to do",
    async (host) => {
      const server = await openServer([[tool("find")]]);
      const { port } = new URL(server.url);
      const sessions = openGuarded();
      const servers = { s: { url: `http://${host}:${port}/mcp` } };
      expect(await sessions.tools("shop", servers, never())).toEqual({ tools: [], missing: ["s"] });
      expect(sessions.ill()).toEqual([{ channel: "shop", server: "s", fault: CLOSED }]);
      expect(server.sessions()).toBe(0);
      await sessions.close();
    },
  );

  it("is connected to where its addresses are allowed", async () => {
    const server = await openServer([[tool("find")]]);
    const settings = { url: server.url };
    const sessions = openGuarded([settings]);
    expect(names((await sessions.tools("shop", { s: settings }, never())).tools)).toEqual(["find"]);
    await sessions.close();
  });

  it("is not reached by a redirect", async () => {
    const server = await openScriptedServer();
    const moved = await openScriptedServer({
      initialize: (response) => void response.writeHead(307, { location: server.url }).end(),
    });
    expect(await openSessions().tools("shop", { s: { url: moved.url } }, never())).toEqual([]);
    expect(server.asked).toEqual([]);
  });

  async function asked(options: { env?: Record<string, string>; namedBy?: "file" }) {
    const server = await openServer([[tool("find")]]);
    const { model } = await openScriptedModel(["Hi."]);
    const agent = { mcpServers: { orders: { url: server.url } } };
    const { env = {}, namedBy } = options;
    const service = await startTestService({
      model,
      env,
      channels: [shopChannel(agent)],
      ...(namedBy ? { namedServers: new Map([["shop", [{ ...agent.mcpServers.orders }]]]) } : {}),
    });
    const message = { threadId: "t", userId: "u", text: "Hi", channel: "shop" };
    expect((await sendMessage(service.url, message)).status).toBe(200);
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const health = await (await fetch(`${service.url}/health`, { headers })).text();
    const open = await (await fetch(`${service.url}/health`)).text();
    return { sessions: server.sessions(), health, open, logged: service.logged };
  }

  it("of the store is not connected to, and the log and /health of those who have the key say why", async () => {
    const { sessions, health, open, logged } = await asked({});
    expect(sessions).toBe(0);
    expect(health).toContain(
      `MCP server orders of channel shop cannot be used: its tools are left out: ${CLOSED}`,
    );
    expect(open).not.toContain("orders");
    const told = logged.filter((line) => line.includes("MCP server cannot be used"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(CLOSED);
  });

  it("of the store is connected to with MCP_PRIVATE=on", async () => {
    expect(await asked({ env: { MCP_PRIVATE: "on" } })).toMatchObject({ sessions: 1 });
  });

  it("that CHANNELS_FILE names is connected to", async () => {
    expect(await asked({ namedBy: "file" })).toMatchObject({ sessions: 1 });
  });
});

test("G19: signing in, a server cannot send the service anywhere but to its own origin and the issuer", async () => {
  const elsewhere = await openScriptedServer();
  const auth = await openTokenServer("chat", "s3cret");
  const oauth = { clientId: "chat", clientSecret: "s3cret", issuer: auth.issuer };
  const byHeader = await openScriptedServer({
    initialize: (response) => {
      const metadata = `${new URL(elsewhere.url).origin}/internal`;
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
    },
  });
  const byMetadata = await openServer([[tool("find")]]);
  byMetadata.tokens = auth.tokens;
  byMetadata.issuer = new URL(elsewhere.url).origin;
  for (const { url } of [byHeader, byMetadata]) {
    expect(await openSessions().tools("shop", { s: { url, oauth } }, never())).toEqual([]);
  }
  expect(elsewhere.asked).toEqual([]);
  expect(auth.asked).toEqual([]);
});
