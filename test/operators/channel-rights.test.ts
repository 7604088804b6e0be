// For src/operators/channels.ts
import { describe, expect, test } from "vitest";
import { upsertChannels } from "../../src/installation/channels-file.ts";
import { applyFields } from "../../src/domain/channels/channel-fields.ts";
import { startOperated } from "../http/operator-api/operators-service.ts";
import type { OperatedService } from "../http/operator-api/operators-service.ts";

async function keyOf({ store }: OperatedService, slug: string): Promise<string> {
  return (await store.channel(slug))?.publishableKey ?? "";
}

describe("a publishable key", () => {
  test("G7: that was given out belongs to its channel for good, however it was replaced", async () => {
    const service = await startOperated();
    const { as, store } = service;
    const replaced: string[] = [];
    // By a rotation, by one with an overlap, by a change, and by the channel's becoming another kind.
    for (const [method, path, body] of [
      ["POST", "/channels/other/rotate-keys", undefined],
      ["POST", "/channels/other/rotate-keys", { overlapHours: 1 }],
      ["POST", "/channels/other/rotate-keys", undefined],
      ["PATCH", "/channels/other", { publishableKey: "pk_chosen" }],
      ["PATCH", "/channels/other", { kind: "transport" }],
    ] as const) {
      replaced.push(await keyOf(service, "other"));
      expect((await as("admin", method, path, body)).status).toBe(200);
    }
    expect(new Set(replaced).size).toBe(5);
    const shop = await store.channel("shop");
    for (const publishableKey of replaced) {
      expect((await as("admin", "PATCH", "/channels/shop", { publishableKey })).status).toBe(409);
      const made = await as("admin", "POST", "/channels", { slug: "new", kind: "web", publishableKey });
      expect(made.status).toBe(409);
      const file = [{ slug: "shop", kind: "web" as const, publishableKey }];
      await expect(upsertChannels(store, file)).rejects.toThrow(/shop.*other|other.*shop/);
    }
    expect(await store.channel("shop")).toEqual(shop);
    // The record has hashes alone, and the API shows none.
    expect(JSON.stringify(await store.channel("other"))).not.toContain("pk_");
    expect(await (await as("admin", "GET", "/channels/other")).text()).not.toMatch(/retired/i);
    // Its own channel may have it again.
    const again = { kind: "web", publishableKey: "pk_other" };
    expect((await as("admin", "PATCH", "/channels/other", again)).status).toBe(200);
  });

  test("G7: a key of before an upgrade counts, too, as soon as its channel is written", () => {
    const key = (publishableKey: string) => ({ publishableKey, secretKeyHash: null, untilMs: 1 });
    const stored = applyFields(null, { slug: "a", kind: "web", publishableKey: "pk_2" }, 0);
    const next = applyFields(
      { ...stored, olderKeys: [key("pk_0"), key("pk_1")] },
      { slug: "a", publishableKey: "pk_3" },
      0,
    );
    expect(next.retiredKeys).toHaveLength(3);
    expect(applyFields(next, { slug: "a", enabled: false }, 0).retiredKeys).toEqual(next.retiredKeys);
  });
});

describe("an admin who is limited to channels", () => {
  const url = "https://orders.example/mcp";
  const oauth = { clientId: "a", clientSecret: "b", issuer: "https://auth.example" };
  const agent = {
    maxOutputTokensPerRun: 10,
    maxTokensPerUserPerDay: 100,
    maxTokensPerDay: 1_000,
    mcpServers: { orders: { url, headers: { "x-key": "k" } }, guarded: { url, oauth } },
  };
  const server = (more: object) => ({ agent: { mcpServers: { orders: { url, ...more } } } });
  const FOR_ALL: [field: string, change: object][] = [
    ["publishableKey", { publishableKey: "pk_mine" }],
    ["secretKey", { secretKey: "sk_mine" }],
    ["agent.maxOutputTokensPerRun", { agent: { maxOutputTokensPerRun: null } }],
    ["agent.maxTokensPerUserPerDay", { agent: { maxTokensPerUserPerDay: 1_000_000 } }],
    ["agent.maxTokensPerDay", { agent: { maxTokensPerDay: null } }],
    ["agent.mcpServers.orders.url", server({ url: "https://elsewhere.example/mcp" })],
    ["agent.mcpServers.added.url", { agent: { mcpServers: { added: { url } } } }],
    [
      "agent.mcpServers.guarded.oauth.issuer",
      { agent: { mcpServers: { guarded: { url, oauth: { ...oauth, issuer: "https://mine.example" } } } } },
    ],
    ["agent.mcpServers.orders.oauth.issuer", server({ headers: null, oauth })],
  ];

  async function prepared() {
    const service = await startOperated();
    expect((await service.as("admin", "PATCH", "/channels/shop", { agent })).status).toBe(200);
    return service;
  }

  test.each(FOR_ALL)("G7, G11: does not change %s; one without limits does", async (field, change) => {
    const { as, store } = await prepared();
    const before = await store.channel("shop");
    const got = await as("shop-admin", "PATCH", "/channels/shop", change);
    expect([got.status, await got.text()]).toEqual([403, ""]);
    expect(await store.channel("shop")).toEqual(before);
    const { items } = await store.audit({ limit: 1, after: null, sinceMs: 0 });
    expect(items[0]?.entry).toMatchObject({
      operator: "shop-admin",
      action: "channels.refuse-fields",
      slug: "shop",
      detail: { fields: [field] },
    });
    expect((await as("admin", "PATCH", "/channels/shop", change)).status).toBe(200);
  });

  test.each<[what: string, change: object]>([
    ["instructions", { agent: { instructions: "Be kind." } }],
    ["what is as it was", { publishableKey: "pk_shop", agent: { maxTokensPerDay: 1_000 } }],
    ["headers of a server that is there", server({ headers: { "x-key": "new" } })],
    ["tools of a server that is there", server({ tools: { deny: ["pay"] } })],
    ["away with a server", { agent: { mcpServers: { orders: null } } }],
    ["away with all servers", { agent: { mcpServers: null } }],
    ["webhooks", { webhooks: [{ url: "https://x.example", secret: "$CHANNEL_HOOK" }] }],
  ])("G11: may change %s", async (_what, change) => {
    const { as } = await prepared();
    const got = await as("shop-admin", "PATCH", "/channels/shop", change);
    expect([got.status, got.status === 200 ? "" : await got.text()]).toEqual([200, ""]);
  });

  test("G7: may rotate the keys", async () => {
    const { as } = await prepared();
    expect((await as("shop-admin", "POST", "/channels/shop/rotate-keys")).status).toBe(200);
  });
});
