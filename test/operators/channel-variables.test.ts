// For src/config/channel-variables.ts, src/cli/channel-variables.ts
import { expect, onTestFinished, test } from "vitest";
import type { AgentSettings, Channel } from "../../src/domain/channels/channel.ts";
import { VARIABLE_FIELDS, variablesOf } from "../../src/domain/channels/channel-variables.ts";
import { createChannelVariables } from "../../src/config/channel-variables.ts";
import { channelFieldsSchema } from "../../src/domain/channels/channel-fields.ts";
import { parseChannels } from "../../src/installation/channels-file.ts";
import { createMcpSessions } from "../../src/agent/mcp/sessions.ts";
import { secretsOf } from "../../src/webhooks/sign.ts";
import { Secret } from "../../src/secret.ts";
import { isSetting, settingNames } from "../../src/config.ts";
import { openServer, tool } from "../agent/mcp/sessions.ts";
import { silentLog } from "../agent/run.ts";
import { startOperated } from "../http/operator-api/operators-service.ts";
import { sampleChannel } from "../stores/samples.ts";
import { readSettings } from "../../src/messengers/accounts.ts";
import { textFieldsOf } from "../support/house/schema-fields.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { SECRET } from "../webhooks/receiver.ts";

const SETTING = "HARNESS_API_KEY";

/** Sets variables of this process for one test. */
function setVariables(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) {
    const before = process.env[name];
    process.env[name] = value;
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

const withHeader = (url: string, value: string): Channel => ({
  ...sampleChannel({ slug: "cli", kind: "transport" }),
  agent: { mcpServers: { evil: { url, headers: { "x-a": value } } } },
  publishableKey: null,
  secretKeyHash: null,
  allowedOrigins: [],
});

test("A1: no setting of the service leaves by a header that an earlier version stored, with one warning", async () => {
  setVariables({ [SETTING]: "canary-transport-key", AWS_SECRET_ACCESS_KEY: "canary-cloud" });
  for (const name of [SETTING, "AWS_SECRET_ACCESS_KEY"]) {
    const server = await openServer([[tool("find")]]);
    const service = await startTestService({ channels: [withHeader(server.url, `$${name}`)] });
    for (const threadId of ["a", "b", "c"]) {
      const { status } = await sendMessage(service.url, { threadId, userId: "u", text: "Hello" });
      expect(status).toBe(200);
    }
    expect(JSON.stringify(server.headers)).not.toContain("canary");
    expect(server.sessions()).toBe(0);
    const told = service.logged.filter((line) => line.includes(`$${name}`) && line.includes("CHANNEL_"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('"channel":"cli"');
    expect(told[0]).toContain("agent.mcpServers.evil.headers.x-a");
    const health = await fetch(`${service.url}/health`, {
      headers: { authorization: "Bearer test-transport-key" },
    });
    expect(((await health.json()) as { warnings: string[] }).warnings.join()).toContain(
      `agent.mcpServers.evil.headers.x-a of channel cli names $${name}`,
    );
  }
});

test("A1: a variable of the channel's own prefix is sent", async () => {
  setVariables({ CHANNEL_TEST_KEY: "for the server" });
  const server = await openServer([[tool("find")]]);
  const service = await startTestService({
    channels: [withHeader(server.url, "$CHANNEL_TEST_KEY")],
    env: { MCP_PRIVATE: "on" },
  });
  await sendMessage(service.url, { threadId: "a", userId: "u", text: "Hello" });
  expect(server.headers["x-a"]).toBe("for the server");
});

/** Each field that takes a name, as a channel's admin writes it. */
const written = (name: string): Record<string, object> => {
  const url = "https://x.example/mcp";
  const server = (more: object) => ({ agent: { mcpServers: { s: { url, ...more } } } });
  const oauth = { clientId: "a", clientSecret: "b", issuer: "https://auth.example" };
  return {
    "agent.mcpServers.*.headers.*": server({ headers: { a: `$${name}` } }),
    "agent.mcpServers.*.identity.key": server({ identity: { key: `$${name}` } }),
    "agent.mcpServers.*.oauth.clientId": server({ oauth: { ...oauth, clientId: `$${name}` } }),
    "agent.mcpServers.*.oauth.clientSecret": server({ oauth: { ...oauth, clientSecret: `$${name}` } }),
    "webhooks.*.secret": { webhooks: [{ url: "https://x.example/hook", secret: `$${name}` }] },
  };
};

test.each(Object.keys(written("X")))(
  "A1: the API refuses another variable than CHANNEL_… in %s, and the audit has who tried",
  async (field) => {
    const { as, store } = await startOperated();
    for (const name of [SETTING, "REDIS_URL", "CONTENT_KEYS", "OTEL_EXPORTER_OTLP_HEADERS", "AWS_SECRET"]) {
      const body = written(name)[field];
      const got = await as("admin", "PATCH", "/channels/shop", body);
      expect([got.status, await got.text()]).toEqual([
        422,
        expect.stringContaining(`names $${name}`) as unknown,
      ]);
      const { items } = await store.audit({ limit: 1, after: null, sinceMs: 0 });
      expect(items[0]?.entry).toMatchObject({
        operator: "admin",
        action: "channels.refuse-variable",
        slug: "shop",
        detail: { variable: name },
      });
      const made = await as("admin", "POST", "/channels", { slug: "new", kind: "transport", ...body });
      expect(made.status).toBe(422);
    }
    const got = await as("admin", "PATCH", "/channels/shop", written("CHANNEL_SHOP_KEY")[field]);
    expect(got.status).toBe(200);
    const { items } = await store.audit({ limit: 1, after: null, sinceMs: 0 });
    expect(items[0]?.entry).toMatchObject({
      action: "channels.update",
      detail: { variables: ["CHANNEL_SHOP_KEY"] },
    });
  },
);

test("A1: a forbidden name that is stored stops no other change of the channel", async () => {
  const { as, store, renew } = await startOperated();
  const shop = await store.channel("shop");
  if (shop === null) throw new Error("Cannot find the channel");
  const agent: AgentSettings = {
    mcpServers: { old: { url: "https://x.example", headers: { a: "$OLD_KEY" } } },
  };
  await store.putChannel({ ...shop, agent });
  await renew();
  const got = await as("shop-admin", "PATCH", "/channels/shop", { agent: { instructions: "Be kind." } });
  expect(got.status).toBe(200);
});

test("A1: CHANNELS_FILE may name any variable for its channel but the service's settings", () => {
  const parse = (fields: object) =>
    parseChannels(JSON.stringify({ channels: [{ slug: "shop", kind: "web", ...fields }] }), () => null);
  for (const [field, fields] of Object.entries(written("ORDERS_KEY"))) {
    const variables = createChannelVariables({
      named: parse(fields).variables,
      env: { ORDERS_KEY: "k", HARNESS_API_KEY: "canary" },
    });
    expect([field, variables.read("shop", "ORDERS_KEY")?.reveal()]).toEqual([field, "k"]);
    expect(variables.read("other", "ORDERS_KEY")).toBeNull();
    expect(variables.read("shop", "HARNESS_API_KEY")).toBeNull();
  }
  for (const fields of [...Object.values(written(SETTING)), { secretKey: `$${SETTING}` }]) {
    expect(() => parse(fields)).toThrow(/channel shop: .* names \$HARNESS_API_KEY, a setting of the service/);
  }
});

test("A1: no setting of the service looks like a channel's variable", () => {
  expect(settingNames.length).toBeGreaterThan(50);
  expect(settingNames.filter((name) => name.startsWith("CHANNEL_"))).toEqual([]);
  expect(settingNames.every((name) => isSetting(name))).toBe(true);
});

/** Texts in which `$NAME` is nothing but these letters. */
const PLAIN_FIELDS = [
  "slug",
  "publishableKey",
  "allowedOrigins.*",
  "agent.history.summaryModel",
  "agent.instructions",
  "agent.model",
  "agent.reasoningEffort",
  "agent.body.(name)",
  "agent.body.*",
  "agent.mcpServers.(name)",
  "agent.tools.confirm.*",
  "agent.mcpServers.*.tools.allow.*",
  "agent.mcpServers.*.tools.deny.*",
  "agent.mcpServers.*.url",
  "agent.mcpServers.*.headers.(name)",
  "agent.mcpServers.*.oauth.issuer",
  "agent.mcpServers.*.oauth.scope",
  // Of processes, which CHANNELS_FILE alone names.
  "agent.mcpServers.*.command",
  "agent.mcpServers.*.args.*",
  "agent.mcpServers.*.env.(name)",
  "agent.mcpServers.*.env.*",
  "handoff.hours.holidays.*",
  "handoff.hours.timeZone",
  "handoff.hours.week.fri.*",
  "handoff.hours.week.mon.*",
  "handoff.hours.week.sat.*",
  "handoff.hours.week.sun.*",
  "handoff.hours.week.thu.*",
  "handoff.hours.week.tue.*",
  "handoff.hours.week.wed.*",
  "handoff.message",
  "handoff.unanswered",
  "handoff.unavailable",
  "handoff.queues.*",
  "handoff.replies.*",
  "knowledge.embeddings",
  "knowledge.sources.*.every",
  "knowledge.sources.*.exclude.*",
  "knowledge.sources.*.file",
  "knowledge.sources.*.folder",
  "knowledge.sources.*.include.*",
  "knowledge.sources.*.name",
  "knowledge.sources.*.sitemap",
  "knowledge.sources.*.url",
  "webhooks.*.url",
  "messenger.settings.(name)",
];

test("A1: each text of a channel takes $NAME, or is a plain one: a new field is put into one of the lists", () => {
  expect(textFieldsOf(channelFieldsSchema).sort()).toEqual([...VARIABLE_FIELDS, ...PLAIN_FIELDS].sort());
});

/**
 * Names are put into every text of MCP servers and webhooks; what asks for a value takes `$NAME`. A field that does so and
 * is not in VARIABLE_FIELDS, by which names are refused, is found here.
 */
test("A1: the list of fields that take $NAME has every field whose variable is read", async () => {
  const read = new Set<string>();
  const nameOf = (field: string) => `CHANNEL_${field.replaceAll(/[^a-z]/gi, "_")}`.toUpperCase();
  const variable = (name: string) => {
    read.add(name);
    return new Secret(name.startsWith("CHANNEL_WEBHOOKS") ? SECRET : "value");
  };
  const fields = textFieldsOf(channelFieldsSchema);
  expect(fields).toContain("agent.mcpServers.*.headers.*");
  const expected = VARIABLE_FIELDS.filter((field) => fields.includes(field)).map(nameOf);
  expect(expected).toHaveLength(VARIABLE_FIELDS.length);

  const at = (path: string) => `$${nameOf(path)}`;
  const server = await openServer([[tool("find")]]);
  const one = {
    url: server.url,
    headers: { a: at("agent.mcpServers.*.headers.*") },
    tools: { allow: [at("agent.mcpServers.*.tools.allow.*")], deny: [at("agent.mcpServers.*.tools.deny.*")] },
  };
  const mcpServers = {
    identity: { ...one, identity: { key: at("agent.mcpServers.*.identity.key") } },
    oauth: {
      ...one,
      oauth: {
        clientId: at("agent.mcpServers.*.oauth.clientId"),
        clientSecret: at("agent.mcpServers.*.oauth.clientSecret"),
        issuer: "http://127.0.0.1:9",
        scope: at("agent.mcpServers.*.oauth.scope"),
      },
    },
  };
  const sessions = createMcpSessions({
    clock: { now: () => 0, elapsed: () => 0 },
    log: silentLog,
    variable,
  });
  onTestFinished(() => sessions.close());
  await sessions.tools("shop", mcpServers, new AbortController().signal);
  const webhook = { url: "https://x.example", secret: at("webhooks.*.secret") };
  secretsOf(webhook, variable, 0);
  const messenger = {
    type: "telegram" as const,
    settings: { botToken: at("messenger.settings.*"), secretToken: "s" },
  };
  readSettings("shop", messenger, { read: (_slug, name) => variable(name) });
  parseChannels(JSON.stringify({ channels: [{ slug: "shop", secretKey: at("secretKey") }] }), (name) => {
    read.add(name);
    return new Secret("sk_x");
  });
  expect([...read].sort()).toEqual(expected.sort());
  const found = variablesOf({ agent: { mcpServers }, webhooks: [webhook], messenger }).map(
    ({ name }) => name,
  );
  expect([...new Set(found), nameOf("secretKey")].sort()).toEqual(expected.sort());
});
