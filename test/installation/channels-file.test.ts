// For src/domain/channels/channel-fields.ts, src/installation/channels-file.ts, src/installation/default-channels.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseChannels, readChannelsFile, upsertChannels } from "../../src/installation/channels-file.ts";
import { systemClock } from "../../src/clock.ts";
import { messageOf } from "../../src/errors.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { createCliChannel, createDemoChannel } from "../../src/installation/default-channels.ts";
import { hashKey, newChannelKeys } from "../../src/keys.ts";
import { Secret } from "../../src/secret.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

const VARIABLES: Record<string, string> = {
  SHOP_KEY: "sk_from_env",
  ODD_KEY: "canary",
  CUT_KEY: "sk_canary…",
};

const SHOP = {
  slug: "shop",
  kind: "web",
  publishableKey: "pk_shop",
  secretKey: "sk_shop",
  allowedOrigins: ["https://shop.example"],
};

/** The origins of a start's demo page. */
const page = (port: number) => [`http://127.0.0.1:${port}`, `http://localhost:${port}`];

function parse(...channels: object[]) {
  return parseChannels(JSON.stringify({ channels }), (name) =>
    VARIABLES[name] === undefined ? null : new Secret(VARIABLES[name]),
  );
}

async function openTestStore(): Promise<Store> {
  const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock: systemClock });
  onTestFinished(() => store.close());
  return store;
}

describe("parseChannels()", () => {
  test("takes the channel of the contract's example, and hashes its secret key", () => {
    const { channels } = parse({
      ...SHOP,
      enabled: true,
      accessMode: "open",
      agent: {
        instructions: "You help visitors of a shop.",
        model: "gpt-5-mini",
        mcpServers: { orders: { url: "https://orders.example/mcp" } },
      },
    });
    expect(channels[0]).toMatchObject({ slug: "shop", secretKeyHash: hashKey(new Secret("sk_shop")) });
    expect(JSON.stringify(channels)).not.toContain("sk_shop");
  });

  test("reads a secret key from the environment", () => {
    const { channels } = parse({ ...SHOP, secretKey: "$SHOP_KEY" });
    expect(channels[0]?.secretKeyHash).toBe(hashKey(new Secret("sk_from_env")));
    expect(() => parse({ ...SHOP, secretKey: "$NOT_SET" })).toThrow("from NOT_SET, which is unset");
    expect(() => parse({ ...SHOP, secretKey: "$ODD_KEY" })).toThrow(
      "from ODD_KEY, which must start with sk_",
    );
    expect(() => parse({ ...SHOP, secretKey: "$CUT_KEY" })).toThrow("printable ASCII");
    expect(() => parse({ ...SHOP, secretKey: "$ODD_KEY" })).not.toThrow("canary");
  });

  test("keeps MCP servers that are processes with this instance", () => {
    const { processServers } = parse({
      ...SHOP,
      agent: { mcpServers: { local: { command: "node", args: ["x"] }, far: { url: "https://x.example" } } },
    });
    expect([...processServers]).toEqual([["shop", { local: { command: "node", args: ["x"] } }]]);
  });

  test("takes an origin for the ASCII form in which browsers send it", () => {
    const { channels } = parse({
      ...SHOP,
      allowedOrigins: ["https://Bücher.example/", "https://SHOP.example:443", "http://localhost:3000"],
    });
    expect(channels[0]?.allowedOrigins).toEqual([
      "https://xn--bcher-kva.example",
      "https://shop.example",
      "http://localhost:3000",
    ]);
  });

  test.each([
    "null",
    "*",
    "",
    "shop.example",
    "https://shop.example/path",
    "https://shop.example?x",
    "https://user@shop.example",
    "https://*",
    "file:///tmp",
    "javascript:alert(1)",
  ])("refuses %j as an origin", (origin) => {
    expect(() => parse({ ...SHOP, allowedOrigins: [origin] })).toThrow("is no origin");
  });

  test.each([
    ["a slug of other letters", { ...SHOP, slug: "Shop" }, "must be 1 to 64 of a-z 0-9 - _"],
    ["a slug of 65", { ...SHOP, slug: "a".repeat(65) }, "must be 1 to 64"],
    ["a publishable key without pk_", { ...SHOP, publishableKey: "shop" }, "must start with pk_"],
    ["a secret key without sk_", { ...SHOP, secretKey: "shop" }, "must start with sk_"],
    ["a secret key with a comma", { ...SHOP, secretKey: "sk_a,b" }, "without spaces and commas"],
    ["a field of another name", { ...SHOP, origins: [] }, "origins"],
    ["an unknown kind", { ...SHOP, kind: "mail" }, "channels[0].kind"],
    ["a budget of 0", { ...SHOP, agent: { maxOutputTokensPerRun: 0 } }, "maxOutputTokensPerRun"],
  ])("refuses %s, and says where", (_name, channel, complaint) => {
    expect(() => parse(channel)).toThrow(complaint);
  });

  test.each([
    ["a list", "[]"],
    ["a channel by itself", JSON.stringify(SHOP)],
    ["channels that are no list", '{"channels":{}}'],
  ])("refuses %s in the place of the whole, and says what it takes", (_name, text) => {
    expect(() => parseChannels(text, () => null)).toThrow('{ "channels": [ … ] }');
  });

  test.each([
    [{ ...SHOP, alowedOrigins: [] }, 'Unrecognized key: "alowedOrigins"; did you mean "allowedOrigins"?'],
    [
      { ...SHOP, agent: { instuctions: "x" } },
      'Unrecognized key: "instuctions"; did you mean "instructions"?',
    ],
    [{ ...SHOP, colour: "red" }, 'Unrecognized key: "colour"'],
  ])("H4: of a field of another name says which was probably meant: %j", (channel, complaint) => {
    let said = "";
    try {
      parse(channel);
    } catch (error) {
      said = messageOf(error);
    }
    expect(said.endsWith(complaint)).toBe(true);
  });

  test("refuses one slug twice", () => {
    expect(() => parse(SHOP, SHOP)).toThrow("channel shop stands in it twice");
  });
});

describe("readChannelsFile()", () => {
  test("P15: says in one line what is wrong, without quoting the file", async () => {
    const path = join(temporaryFolder(), "channels.json");
    const none = () => null;
    await expect(readChannelsFile(path, none)).rejects.toThrow(/^Cannot read CHANNELS_FILE .*ENOENT/);
    writeFileSync(path, '{"channels": [{"secretKey": "sk_canary", oops');
    const broken = readChannelsFile(path, none);
    await expect(broken).rejects.toThrow(ConfigError);
    await expect(broken).rejects.not.toThrow(/canary|\n/);
    // H4
    for (const [text, place] of [
      ['{"channels": [{"secretKey": "sk_canary", oops', "line 1, column 42"],
      ['{\n  "channels": [\n    { "slug": sk_canary }\n  ]\n}', "line 3, column 15"],
      ['{\n  "channels": [],\n}', "line 2, column 17"],
      ["", "line 1, column 1"],
    ] as const) {
      writeFileSync(path, text);
      await expect(readChannelsFile(path, none)).rejects.toThrow(
        `Cannot read CHANNELS_FILE ${path}: it is not JSON: look at ${place}`,
      );
      await expect(readChannelsFile(path, none)).rejects.not.toThrow("canary");
    }
  });
});

describe("upsertChannels()", () => {
  test("a new channel takes the defaults", async () => {
    const store = await openTestStore();
    expect(await upsertChannels(store, parse(SHOP, { slug: "bot", kind: "transport" }).channels)).toEqual([]);
    expect(await store.channel("shop")).toEqual({
      slug: "shop",
      kind: "web",
      publishableKey: "pk_shop",
      secretKeyHash: hashKey(new Secret("sk_shop")),
      allowedOrigins: ["https://shop.example"],
      enabled: true,
      accessMode: "open",
      agent: {},
    });
    expect(await store.channel("bot")).toMatchObject({ publishableKey: null, allowedOrigins: [] });
  });

  test("the file's fields win, and what it leaves out stays", async () => {
    const store = await openTestStore();
    const { channels } = parse({ ...SHOP, enabled: true });
    await upsertChannels(store, channels);
    const stored = await store.channel("shop");
    if (stored === null) throw new Error("Cannot go on: no channel");
    await store.putChannel({ ...stored, enabled: false, accessMode: "whitelist", agent: { model: "other" } });

    expect(await upsertChannels(store, channels)).toEqual([
      "CHANNELS_FILE overrides enabled of channel shop as the store had it",
    ]);
    expect(await store.channel("shop")).toMatchObject({
      enabled: true,
      accessMode: "whitelist",
      agent: { model: "other" },
    });
    expect(await upsertChannels(store, parse({ slug: "shop" }).channels)).toEqual([]);
  });

  test("what somebody else changes meanwhile stays, new keys too", async () => {
    const store = await openTestStore();
    await upsertChannels(store, parse(SHOP).channels);
    const stored = await store.channel("shop");
    if (stored === null) throw new Error("Cannot go on: no channel");
    const rotated = { ...stored, secretKeyHash: hashKey(new Secret("sk_new")), agent: { model: "other" } };
    let writes = 0;
    const busy: Store = {
      ...store,
      async replaceChannel(channel, before) {
        if (writes++ === 0) await store.putChannel(rotated);
        return store.replaceChannel(channel, before);
      },
    };
    expect(await upsertChannels(busy, parse({ slug: "shop", enabled: false }).channels)).toEqual([
      "CHANNELS_FILE overrides enabled of channel shop as the store had it",
    ]);
    expect(await store.channel("shop")).toEqual({ ...rotated, enabled: false });
  });

  test("a channel that is never as it was read is written all the same", async () => {
    const store = await openTestStore();
    const never: Store = { ...store, replaceChannel: () => Promise.resolve(false) };
    await upsertChannels(never, parse(SHOP).channels);
    expect(await store.channel("shop")).toMatchObject({ publishableKey: "pk_shop" });
  });

  test("a start that changes nothing writes nothing", async () => {
    const store = await openTestStore();
    await upsertChannels(store, parse(SHOP).channels);
    const before = await store.changeCount();
    await upsertChannels(store, parse(SHOP).channels);
    expect(await store.changeCount()).toBe(before);
  });

  test("channels that the file does not name stay", async () => {
    const store = await openTestStore();
    await upsertChannels(store, parse(SHOP).channels);
    await upsertChannels(store, parse({ slug: "bot", kind: "transport" }).channels);
    expect((await store.channels()).map(({ slug }) => slug).sort()).toEqual(["bot", "shop"]);
  });

  test("refuses a publishable key that another channel has, and writes nothing", async () => {
    const store = await openTestStore();
    await upsertChannels(store, parse(SHOP).channels);
    const twin = { ...SHOP, slug: "twin" };
    await expect(
      upsertChannels(store, parse({ slug: "a", kind: "transport" }, twin).channels),
    ).rejects.toThrow("channels shop and twin share a publishableKey");
    expect((await store.channels()).map(({ slug }) => slug)).toEqual(["shop"]);
  });

  test.each([
    ["a new channel without a kind", { slug: "new" }, "needs a kind"],
    ["a new web channel without a publishable key", { slug: "new", kind: "web" }, "needs a publishableKey"],
    [
      "a transport channel with origins",
      { slug: "new", kind: "transport", allowedOrigins: [] },
      "has no allowedOrigins",
    ],
    [
      "a transport channel with a key",
      { slug: "new", kind: "transport", secretKey: "sk_1" },
      "has no secretKey",
    ],
  ])("refuses %s", async (_name, channel, complaint) => {
    const store = await openTestStore();
    await expect(upsertChannels(store, parse(channel).channels)).rejects.toThrow(complaint);
  });

  test("processes never go to the store", async () => {
    const store = await openTestStore();
    const agent = { mcpServers: { local: { command: "node" } }, model: "m" };
    await upsertChannels(store, parse({ ...SHOP, agent }).channels);
    expect((await store.channel("shop"))?.agent).toEqual({ model: "m" });
  });
});

describe("the channels that a start makes itself", () => {
  test("makes cli and demo where they are missing, and lets changes stay", async () => {
    const store = await openTestStore();
    const keys = newChannelKeys();
    await createCliChannel(store);
    await createDemoChannel(store, { keys, origins: page(8081) });
    expect(await store.channel("cli")).toMatchObject({ kind: "transport", enabled: true });
    const demo = await store.channel("demo");
    expect(demo).toMatchObject({ kind: "web", publishableKey: keys.publishableKey });

    if (demo === null) throw new Error("Cannot go on: no demo channel");
    await store.putChannel({ ...demo, accessMode: "whitelist" });
    await createDemoChannel(store, { keys, origins: page(9999) });
    expect(await store.channel("demo")).toMatchObject({
      accessMode: "whitelist",
      allowedOrigins: page(9999),
    });
  });

  test("a start's page takes the place of an earlier start's, which is told, and of nothing that somebody added", async () => {
    const store = await openTestStore();
    const keys = newChannelKeys();
    const added = ["https://shop.example", "http://localhost:3000"];
    expect(await createDemoChannel(store, { keys, origins: page(8081) })).toEqual([]);
    const demo = await store.channel("demo");
    if (demo === null) throw new Error("Cannot go on: no demo channel");
    await store.putChannel({ ...demo, allowedOrigins: [...demo.allowedOrigins, ...added] });

    expect(await createDemoChannel(store, { keys, origins: page(9999) })).toEqual(page(8081));
    expect((await store.channel("demo"))?.allowedOrigins).toEqual([...added, ...page(9999)]);
    expect(await createDemoChannel(store, { keys, origins: page(9999) })).toEqual([]);
  });
});
