// For src/cli/mcp.ts, src/cli/channel-servers.ts, src/agent/mcp/check.ts
import { expect, test } from "vitest";
import { openServer, tool } from "../agent/mcp/sessions.ts";
import { shopChannel } from "../models/shopper.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import type { AgentSettings } from "../../src/domain/channels/channel.ts";

async function withChannel(
  mcpServers: NonNullable<AgentSettings["mcpServers"]>,
): Promise<Record<string, string>> {
  const dataDir = temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  await store.putChannel(shopChannel({ mcpServers }));
  await store.close();
  return { DATA_DIR: dataDir, MCP_PRIVATE: "on" };
}

test("mcp check lists the tools and says which are offered, and exits 1 where a server cannot be used", async () => {
  const server = await openServer([
    [
      tool("find", { annotations: { readOnlyHint: true } }),
      tool("pay", { annotations: { destructiveHint: true } }),
    ],
  ]);
  const env = await withChannel({ orders: { url: server.url, headers: { "x-key": "$CHANNEL_KEY" } } });
  const { code, out } = await runCommand({ ...env, CHANNEL_KEY: "k" }, ["mcp", "check", "shop"]);
  expect(server.headers["x-key"]).toBe("k");
  expect([code, out.split("\n")]).toEqual([
    0,
    [
      "SERVER  TOOL  OFFERED  REPEATABLE  NOTE",
      "orders  find  yes      yes         -",
      "orders  pay   no       no          destructive: offered only where tools.allow names it, and deny does not",
      "orders speaks MCP 2025-11-25 over Streamable HTTP.",
      "",
    ],
  ]);

  const unset = await runCommand(env, ["mcp", "check", "shop", "--json"]);
  expect(unset.code).toBe(1);
  expect(JSON.parse(unset.out)).toEqual([
    {
      server: "orders",
      fault: "Cannot use an MCP server: CHANNEL_KEY is unset, or no variable that its channel may name",
      tools: [],
    },
  ]);
  expect(unset.err).toBe("Cannot use MCP servers of channel shop: orders\n");
  expect(await runCommand(env, ["mcp", "check", "nowhere"])).toMatchObject({ code: 1 });
});

test("channels show and list show no secret of an MCP server: not its headers, nor the key by which it is told who asks", async () => {
  const orders = { url: "https://orders.example/mcp" };
  const env = await withChannel({
    one: { ...orders, identity: { key: "$CHANNEL_KEY" } },
    two: { ...orders, identity: { key: "canary" } },
    three: {
      ...orders,
      oauth: { clientId: "chat", clientSecret: "canary", issuer: "https://auth.example" },
    },
    four: { ...orders, headers: { authorization: "Bearer canary", "x-key": "$CHANNEL_KEY" } },
  });
  for (const more of [
    ["show", "shop"],
    ["show", "shop", "--json"],
    ["list", "--json"],
  ]) {
    const { out } = await runCommand(env, ["channels", ...more]);
    expect(out).toContain("$CHANNEL_KEY");
    expect(out).toContain("[secret]");
    expect(out).not.toContain("canary");
  }
});
