// For src/operators/channel-secrets.ts
import { expect, test } from "vitest";
import { startOperated } from "../http/operator-api/operators-service.ts";
import { SECRET } from "../webhooks/receiver.ts";

const OTHER = `whsec_${Buffer.from("another secret of this test").toString("base64")}`;
const url = "https://office.example/hook";

test("G8: agents and auditors see no query of an address and no value of agent.body", async () => {
  const { as } = await startOperated();
  const agent = {
    body: { api_key: "canary-body", nested: { key: "canary-nested" } },
    mcpServers: {
      orders: {
        url: "https://orders.example/mcp?token=canary-query",
        oauth: {
          clientId: "chat",
          clientSecret: "canary-secret",
          issuer: "https://auth.example/realm?x=canary-issuer",
        },
      },
    },
  };
  const webhooks = [{ url: `${url}?token=canary-hook`, secret: SECRET }];
  const shown = await (await as("admin", "PATCH", "/channels/shop", { agent, webhooks })).text();
  for (const canary of ["canary-body", "canary-query", "canary-issuer", "canary-hook"])
    expect(shown).toContain(canary);
  for (const path of ["/channels", "/channels/shop", "/channels/shop/webhooks"]) {
    for (const name of ["agent", "auditor", "shop-agent", "shop-auditor"]) {
      const got = await as(name, "GET", path);
      const text = await got.text();
      expect([got.status, path, text.match(/canary-[a-z]+/)?.[0]]).toEqual([200, path, undefined]);
      expect(text).toContain("https://office.example/hook");
      if (path !== "/channels/shop/webhooks") expect(text).toContain('"api_key":"[secret]"');
    }
    expect(await (await as("shop-admin", "GET", path)).text()).toContain("canary-hook");
  }
});

test("G8: an address with a password that an earlier version stored is outlined, and stops no other change", async () => {
  const { as, store, renew } = await startOperated();
  const shop = await store.channel("shop");
  if (shop === null) throw new Error("Cannot find the channel");
  const old = { url: "https://user:canary@old.example/mcp?q=canary" };
  await store.putChannel({ ...shop, agent: { body: { n: 2 }, mcpServers: { a: old, b: old } } });
  await renew();
  expect(await (await as("agent", "GET", "/channels/shop")).text()).not.toContain("canary");
  const change = { agent: { instructions: "Be kind.", mcpServers: { c: { url: "https://c.example" } } } };
  expect((await as("admin", "PATCH", "/channels/shop", change)).status).toBe(200);
  const { agent } = (await store.channel("shop")) ?? {};
  expect(Object.keys(agent?.mcpServers ?? {})).toEqual(["a", "b", "c"]);
  expect(agent).toMatchObject({ body: { n: 2 }, instructions: "Be kind.", mcpServers: { a: old } });
  const again = { agent: { mcpServers: { a: { ...old, headers: { x: "y" } } } } };
  expect((await as("admin", "PATCH", "/channels/shop", again)).status).toBe(422);
});

test("G19: 32 servers are the most, however they are added", async () => {
  const { as, store } = await startOperated();
  const added = (from: number, to: number) => {
    const names = Array.from({ length: to - from }, (_, nth) => `s${from + nth}`);
    return {
      agent: { mcpServers: Object.fromEntries(names.map((name) => [name, { url: "https://x.example" }])) },
    };
  };
  expect((await as("admin", "PATCH", "/channels/shop", added(0, 30))).status).toBe(200);
  expect((await as("admin", "PATCH", "/channels/shop", added(30, 32))).status).toBe(200);
  const got = await as("admin", "PATCH", "/channels/shop", added(32, 33));
  expect([got.status, await got.text()]).toEqual([422, "agent.mcpServers: must have at most 32 servers"]);
  expect(Object.keys((await store.channel("shop"))?.agent.mcpServers ?? {})).toHaveLength(32);
});

test("G19: a webhook's secret stays with its url, whatever its place in the list", async () => {
  const { as, store } = await startOperated();
  const second = "https://second.example/hook";
  const webhooks = [
    { url, secret: SECRET },
    { url: second, secret: OTHER },
  ];
  expect((await as("admin", "PATCH", "/channels/shop", { webhooks })).status).toBe(200);
  const elsewhere = { webhooks: [{ url: "https://mine.example/hook", secret: "[secret]" }, webhooks[1]] };
  for (const name of ["admin", "shop-admin"])
    expect((await as(name, "PATCH", "/channels/shop", elsewhere)).status).toBe(422);
  const unnamed = { webhooks: [{ url: "https://mine.example/hook" }] };
  expect((await as("admin", "PATCH", "/channels/shop", unnamed)).status).toBe(422);
  expect((await store.channel("shop"))?.webhooks).toEqual(webhooks);
  const swapped = { webhooks: [{ url: second }, { url, secret: "[secret]" }] };
  expect((await as("admin", "PATCH", "/channels/shop", swapped)).status).toBe(200);
  expect((await store.channel("shop"))?.webhooks).toEqual(webhooks.toReversed());
});
