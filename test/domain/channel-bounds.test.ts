// For src/domain/channels/channel-fields.ts, src/domain/channels/
import { expect, test } from "vitest";
import { channelFieldsSchema } from "../../src/domain/channels/channel-fields.ts";
import { boundsOf } from "../support/house/schema-fields.ts";

const server = { url: "https://x.example/mcp" };
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`n${nth}`, "x"]));
const servers = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`s${nth}`, server]));
const faultOf = (fields: object) => {
  const parsed = channelFieldsSchema.safeParse({ slug: "shop", ...fields });
  return parsed.success ? null : String(parsed.error.issues[0]?.path.join("."));
};

/** Within 20,000 characters of JSON all together. */
const IN_BODY = new Set(["agent.body.*"]);

test("G19: every text of a channel has a greatest length", () => {
  const free = boundsOf(channelFieldsSchema).filter(
    ({ path, maxLength }) => maxLength > 100_000 && !IN_BODY.has(path),
  );
  expect(free).toEqual([]);
});

test("a channel says how much of a long conversation its model is sent", () => {
  const history = { maxChars: 160_000, summary: true, summaryModel: "openai/small" };
  expect(faultOf({ agent: { history } })).toBeNull();
  expect(faultOf({ agent: { history: {} } })).toBeNull();
});

test.each<[field: string, fields: object]>([
  ["agent.instructions", { agent: { instructions: "x".repeat(1_000_000) } }],
  ["agent.mcpServers", { agent: { mcpServers: servers(400) } }],
  ["agent.mcpServers", { agent: { mcpServers: servers(33) } }],
  ["agent.mcpServers.s.headers", { agent: { mcpServers: { s: { ...server, headers: many(65) } } } }],
  ["agent.history.maxChars", { agent: { history: { maxChars: 10_000_001 } } }],
  ["agent.history.maxChars", { agent: { history: { maxChars: 0 } } }],
  ["agent.history", { agent: { history: { max: 1 } } }],
  ["agent.body", { agent: { body: { n: 50 } } }],
  ["agent.body", { agent: { body: { best_of: 2 } } }],
  ["agent.body", { agent: { body: { messages: [] } } }],
  ["agent.body", { agent: { body: { metadata: "x".repeat(20_000) } } }],
  ["allowedOrigins", { allowedOrigins: Array(1_001).fill("https://x.example") }],
  ["retention.threadsDays", { retention: { threadsDays: 1e300 } }],
])("G19: %s is bounded: %#", (field, fields) => {
  expect(faultOf(fields)).toContain(field);
});

test("G19: what a channel needs is within the bounds", () => {
  const agent = {
    instructions: "x".repeat(100_000),
    body: { top_p: 0.5, provider: { order: ["a"] }, max_tokens: 100 },
    mcpServers: servers(32),
  };
  expect(faultOf({ agent })).toBeNull();
});

test.each([
  ["agent.mcpServers.s.url", { agent: { mcpServers: { s: { url: "https://user:pw@x.example" } } } }],
  ["agent.mcpServers.s.url", { agent: { mcpServers: { s: { url: "https://token@x.example" } } } }],
  [
    "agent.mcpServers.s.oauth.issuer",
    {
      agent: {
        mcpServers: {
          s: { ...server, oauth: { clientId: "a", clientSecret: "b", issuer: "https://a:b@x.example" } },
        },
      },
    },
  ],
  ["webhooks.0.url", { webhooks: [{ url: "https://user:pw@x.example", secret: "$CHANNEL_HOOK" }] }],
])("G8: a user name or a password in %s is refused", (field, fields) => {
  const path = faultOf(fields);
  // A union of two kinds of servers names the server.
  expect(field).toContain(path);
});
