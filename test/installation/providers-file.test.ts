// For src/installation/providers-file.ts, src/installation/parse-json.ts
import { expect, test } from "vitest";
import {
  membersOf,
  parseProviders,
  readProviders,
  revealed,
  secretsOfProviders,
} from "../../src/installation/providers-file.ts";
import { Secret } from "../../src/secret.ts";

const variable = (name: string) => (name === "KEY" ? new Secret("sk-7") : null);
const parse = (file: unknown) => parseProviders(JSON.stringify(file), variable, "gpt-5-mini");
const local = { baseUrl: "http://127.0.0.1:11434/v1" };

test("providers are read with what they need and what they do not take", () => {
  const written = parse({
    providers: {
      openai: { apiKey: "$KEY", api: "responses" },
      azure: {
        baseUrl: "https://x.openai.azure.com/openai/deployments/d?api-version=1",
        headers: { "api-key": "$KEY" },
      },
      local: {
        ...local,
        body: { temperature: 0.2 },
        tools: false,
        maxTokensField: "max_tokens",
        thinking: "open",
        profile: "vllm",
        textCalls: true,
      },
    },
    models: { default: ["openai/gpt-5-mini", "local/qwen3"] },
  });
  expect(written.providers[2]).toMatchObject({
    name: "local",
    apiKey: null,
    body: { temperature: 0.2 },
    profile: "vllm",
    quirks: { tools: false, maxTokensField: "max_tokens", thinking: "open", textCalls: true },
  });
  expect(written.providers.map(({ api }) => api)).toEqual(["responses", undefined, undefined]);
  expect(secretsOfProviders(written).map((secret) => secret.reveal())).toEqual(["sk-7", "sk-7"]);
  expect(membersOf(written, written.defaultModel)).toEqual([
    { provider: "openai", model: "gpt-5-mini" },
    { provider: "local", model: "qwen3" },
  ]);
  expect(membersOf(written, "local/hf.co/a/b")).toEqual([{ provider: "local", model: "hf.co/a/b" }]);
  expect(membersOf(written, "qwen3")).toBeNull();
});

test("a package's settings are read with the variables that they name, however deep", () => {
  const settings = { apiKey: "$KEY", region: "eu", headers: { list: ["$KEY", 1, null] } };
  const written = parse({ providers: { a: { package: "@ai-sdk/anthropic", settings, images: false } } });
  const [provider] = written.providers;
  expect(provider?.package?.package).toBe("@ai-sdk/anthropic");
  expect(JSON.stringify(provider)).not.toContain("sk-7");
  expect(revealed(provider?.package?.settings ?? null)).toEqual({
    apiKey: "sk-7",
    region: "eu",
    headers: { list: ["sk-7", 1, null] },
  });
  expect(secretsOfProviders(written).map((secret) => secret.reveal())).toEqual(["sk-7", "sk-7"]);
});

test("of the only provider every name is a model", () => {
  const written = parse({ providers: { local } });
  expect(written.defaultModel).toBe("gpt-5-mini");
  expect(membersOf(written, "qwen/qwen3")).toEqual([{ provider: "local", model: "qwen/qwen3" }]);
  expect(membersOf(written, "local/qwen3")).toEqual([{ provider: "local", model: "qwen3" }]);
});

test("without a file the variables are the one provider, and without those the demo answers", async () => {
  const openai = { apiKey: null, baseUrl: "http://127.0.0.1:1/v1", model: "openai/gpt-5", api: null };
  const written = await readProviders({ providersFile: null, openai }, variable);
  // As a server with slashes in its models' names has it.
  expect(membersOf(written, "openai/gpt-5")).toEqual([{ provider: "openai", model: "openai/gpt-5" }]);
  const demo = await readProviders({ providersFile: null, openai: { ...openai, baseUrl: null } }, variable);
  expect(demo.providers).toEqual([]);
});

test.each<[what: string, file: unknown, complaint: RegExp]>([
  ["no JSON", "{oops", /^it is not JSON: look at line 1, column 2$/],
  ["no providers", { providers: {} }, /must name at least one/],
  ["a strange name", { providers: { "a/b": {} } }, /a provider's name/],
  ["a strange field", { providers: { a: { apikey: "x" } } }, /apikey/],
  ["no package's name", { providers: { a: { package: "../x" } } }, /package.*must be the name of a package/],
  [
    "settings without a package",
    { providers: { a: { settings: {} } } },
    /^provider a has settings, and no package$/,
  ],
  [
    "an address beside a package",
    { providers: { a: { package: "@ai-sdk/anthropic", baseUrl: "http://127.0.0.1:1" } } },
    /^provider a has baseUrl, which a package does not take: write it as @ai-sdk\/anthropic has it, into settings$/,
  ],
  [
    "a package's setting from an unset variable",
    { providers: { a: { package: "@ai-sdk/anthropic", settings: { apiKey: "$NOWHERE" } } } },
    /^provider a takes its settings from NOWHERE, which is unset$/,
  ],
  ["a strange way", { providers: { a: { api: "batch" } } }, /api.*"chat"/],
  [
    "a setting of chat completions where responses are asked for",
    { providers: { a: { api: "responses", baseUrl: "http://127.0.0.1:1/v1", textCalls: true } } },
    /^provider a has textCalls, which only chat completions have, and is asked by responses: leave it out/,
  ],
  [
    "the same of OpenAI's own",
    { providers: { a: { maxTokensField: "max_tokens" } } },
    /OpenAI's own, and asked by responses: leave it out, or write "api": "chat"$/,
  ],
  ["a strange profile", { providers: { a: { profile: "acme" } } }, /profile.*"openai"/],
  ["a strange address", { providers: { a: { baseUrl: "ftp://x" } } }, /http:\/\/ or https:\/\//],
  [
    "an unset variable",
    { providers: { a: { apiKey: "$NONE" } } },
    /provider a takes its apiKey from NONE, which is unset/,
  ],
  [
    "an unset header",
    { providers: { a: { headers: { "api-key": "$NONE" } } } },
    /its header api-key from NONE/,
  ],
  ["a key that no header carries", { providers: { a: { apiKey: "sk\n" } } }, /which a header cannot carry/],
  [
    "an unknown provider",
    { providers: { a: {}, b: {} }, models: { default: "c/d" } },
    /model default names c\/d/,
  ],
  ["no default", { providers: { a: {}, b: {} } }, /models.default is missing/],
  ["an empty chain", { providers: { a: {} }, models: { default: [] } }, /models.default/],
])("a file with %s is refused in one line that shows no value of a key", (_what, file, complaint) => {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  expect(() => parseProviders(text, variable, "gpt-5-mini")).toThrow(complaint);
});

test("a file that cannot be read is named", async () => {
  const config = {
    providersFile: "/nowhere.json",
    openai: { apiKey: null, baseUrl: null, model: "m", api: null },
  };
  await expect(readProviders(config, variable)).rejects.toThrow(
    /^Cannot read PROVIDERS_FILE \/nowhere.json: /,
  );
});

test("prices are of models that there are, by PROVIDER/MODEL, in one currency", () => {
  const providers = { one: {}, two: {} };
  const models = { default: "one/small" };
  const file = (prices: object) => ({ providers, models, prices });
  const price = { input: 0.25, output: 2 };
  const { prices } = parse(file({ currency: "USD", perMillionTokens: { "one/small": price } }));
  expect(prices).toEqual({ currency: "USD", perMillionTokens: { "one/small": price } });
  expect(() => parse(file({ currency: "USD", perMillionTokens: { "three/small": price } }))).toThrow(
    "prices name three/small, and there is no such provider: write PROVIDER/MODEL",
  );
  expect(() => parse(file({ currency: "dollars", perMillionTokens: {} }))).toThrow("three letters");
  expect(() =>
    parse(file({ currency: "USD", perMillionTokens: { "one/small": { input: -1, output: 2 } } })),
  ).toThrow("input");
});
