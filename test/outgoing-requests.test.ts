// For src/public-lookup.ts, src/bounded-body.ts, src/domain/public-address.ts
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/**
 * Every place of the service that asks somebody else, and what bounds how much it reads of the answer. Code that runs in
 * browsers, and the typed client, ask this service alone.
 */
const ASKING: Readonly<Record<string, RegExp>> = {
  // MCP servers, and the authorization servers of theirs: agent/mcp-bounds.
  "src/agent/mcp/connect/guarded-fetch.ts": /mostBytes: MOST_ANSWER_BYTES/,
  "src/agent/mcp/connect/sdk.ts": /loadSdk/,
  // Receivers of webhooks: webhooks/send.
  "src/webhooks/send.ts": /answer\.dump\(\{ limit: ANSWER_BYTES/,
  // The APIs of messengers, where an account is checked: messengers/check. What their adapters ask is theirs to bound.
  "src/messengers/check.ts": /boundedBody\(body, \{ mostBytes: MOST_ANSWER_BYTES \}\)/,
  // Pages of the sources of a channel's knowledge: knowledge/crawl.
  "src/knowledge/fetch/page-fetch.ts": /bytes > MOST_BYTES/,
  // The provider of OpenID Connect: openid/bounds.
  "src/openid/provider.ts": /boundedBody\(body, \{ mostBytes: MOST_ANSWER_BYTES \}\)/,
  // Models: src/models bounds them where their events are put together.
  "src/models/exchange/push-fetch.ts": /new PostExchange\(/,
  "src/models/exchange/post-chat.ts": /http\s*\.post\(/,
  // Embeddings models: service-wide/knowledge.
  "src/models/embeddings.ts": /boundedBody\(answer\.body, \{ mostBytes: MOST_ANSWER_BYTES \}\)/,
  // The collector of traces: an answer is a few bytes, and the exporter of OpenTelemetry reads no more than it needs.
  "src/traces/opentelemetry.ts": /OTLPTraceExporter/,
  // What the operator runs: the store.
  "src/stores/engines/redis/connection.ts": /createClient/,
  // This service itself, or another process of it on this machine.
  "src/demo/sign-in.ts": /service\.serviceUrl/,
  "src/cli/command/local-service.ts": /socketPath/,
  "src/stores/engines/lmdb/data-dir-lock.ts": /createServer/,
};

/** Ways to ask. Types alone do not. */
const WAYS: readonly RegExp[] = [
  /(?<![.\w])fetch\(/,
  /\bcustomFetch\b/,
  /\bnew (?:WebSocket|EventSource)\(/,
  /^import (?!type\b)[^;]*?from "(?:undici|openid-client|node:https|node:http2|node:tls|node:dgram)"/m,
  /^import (?!type\b)\{[^}]*\b(?:request|get)\b[^}]*\} from "node:http"/m,
  /^import (?!type\b)\{[^}]*\b(?:connect|createConnection|Socket)\b[^}]*\} from "node:net"/m,
  /^import (?!type\b)\{[^}]*\bcreateClient\b[^}]*\} from "redis"/m,
  /^import (?!type\b)\w+[^;]*? from "openai"/m,
  /\bimport\("(?:openid-client|@modelcontextprotocol\/client|@opentelemetry\/exporter|@ai-sdk\/)/,
  /^import (?!type\b)[^;]*?from "@modelcontextprotocol\/client/m,
];

const OF_BROWSERS = /^src\/(?:widget|console|client|demo\/shop)\//;

const root = fileURLToPath(new URL("..", import.meta.url));

function asks(text: string): boolean {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return WAYS.some((way) => way.test(code));
}

test("G1: whoever is asked, what is read of the answer has a bound", () => {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => join("src", name))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts") && !OF_BROWSERS.test(file));
  const asking = files.filter((file) => asks(readFileSync(join(root, file), "utf8")));
  expect(asking.toSorted()).toEqual(Object.keys(ASKING).toSorted());
  const unbounded = Object.entries(ASKING).filter(
    ([file, bound]) => !bound.test(readFileSync(join(root, file), "utf8")),
  );
  expect(unbounded.map(([file]) => file)).toEqual([]);
});

test.each([
  'const got = await fetch("https://a.example");',
  'import { request } from "undici";',
  'import { get } from "node:http";',
  'import https from "node:https";',
  'const { EventSource } = x; new EventSource("y");',
  'const { Client } = await import("@modelcontextprotocol/client");',
])("G1: %s is found", (code) => {
  expect(asks(code)).toBe(true);
});

test.each([
  "this.fetch(1)",
  "// fetch(1)",
  'import type { Agent } from "undici";',
  'import { isIP } from "node:net";',
])("%s asks nobody", (code) => {
  expect(asks(code)).toBe(false);
});
