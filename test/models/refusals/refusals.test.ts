// For src/models/refusals/
import { describe, expect, onTestFinished, test } from "vitest";
import { membersOf, parseProviders } from "../../../src/installation/providers-file.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import type { Model } from "../../../src/model.ts";
import { openProvider } from "../../../src/models/openai.ts";
import type { OpenAiOptions } from "../../../src/models/openai.ts";
import { openProviders } from "../../../src/models/providers.ts";
import { LEARNED_FOR_MS } from "../../../src/models/refusals/known-quirks.ts";
import { valueOf } from "../../metrics/sample.ts";
import { bytes, call, cut, hold, say, startModelServer, status } from "../../support/servers/model-server.ts";
import type { Script, ScriptedTurn } from "../../support/servers/model-server.ts";
import { noPause, startTurn } from "../../support/servers/open-model.ts";
import { sendMessage, startTestService, TEST_KEY } from "../../support/servers/service.ts";
import { chunk } from "./dialects.ts";
import { openShopper, shopChannel, textOf } from "../shopper.ts";

/** Refusals of whole requests, each as its server was seen to write it. */
const refusal = (code: number, error: object) => status(code, {}, JSON.stringify({ error }));
const TOOLS = [
  { name: "find", description: "", parameters: { type: "object", properties: { q: { type: "string" } } } },
  {
    name: "paint",
    description: "",
    parameters: { type: "object", properties: { color: { description: "any" } } },
  },
];

/** Models on scripted servers: `a/m`, and with a second script the chain `a/m`, `b/m`. */
async function open(a: Script, { b, ...options }: { b?: Script } & Partial<OpenAiOptions> = {}) {
  let nowMs = 0;
  const clock = { elapsed: () => nowMs };
  const servers = { a: await startModelServer(a), b: await startModelServer(b ?? []) };
  const warned: { [field: string]: unknown; text: string }[] = [];
  const told: typeof warned = [];
  const log = {
    warn: (fields: object, text: string) => void warned.push({ ...fields, text }),
    info: (fields: object, text: string) => void told.push({ ...fields, text }),
  };
  const file = {
    providers: { a: { baseUrl: servers.a.baseUrl }, b: { baseUrl: servers.b.baseUrl } },
    models: { default: b ? ["a/m", "b/m"] : ["a/m"] },
  };
  const written = parseProviders(JSON.stringify(file), () => null, "unused");
  const model = openProviders({
    kind: "openai",
    providers: written.providers.map(({ name, baseUrl }) =>
      openProvider({
        name,
        apiKey: null,
        baseUrl,
        silenceMs: 30_000,
        pause: noPause,
        log,
        clock,
        ...options,
      }),
    ),
    names: { membersOf: (name) => membersOf(written, name), defaultModel: "default" },
    clock,
    log,
    onCall: () => {},
  });
  onTestFinished(async () => {
    await model.close();
    await servers.a.close();
    await servers.b.close();
  });
  const ask = async (request: Parameters<typeof startTurn>[1] = {}) =>
    startTurn(model, { request: { model: "default", tools: TOOLS, ...request.request } }).turn;
  const offered = () =>
    servers.a.requests.map(({ body }) => body.tools?.map((tool) => "function" in tool && tool.function.name));
  return {
    model,
    a: servers.a,
    b: servers.b,
    warned,
    told,
    ask,
    offered,
    pass: (ms: number) => void (nowMs += ms),
  };
}

const ALL = ["find", "paint"];

async function healthOf(model: Model) {
  const { url } = await startTestService({ model });
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  return (await (await fetch(`${url}/health`, { headers })).json()) as { models?: Record<string, object[]> };
}

test("M1: a model that takes tools only without thoughts keeps its tools, with one warning, and says so in /health", async () => {
  const no = refusal(400, {
    message:
      "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    type: "invalid_request_error",
    param: "reasoning_effort",
    code: null,
  });
  const { ask, a, offered, warned, model } = await open(({ body }) =>
    body.tools && body.reasoning_effort !== "none" ? [no] : "Fine.",
  );
  for (const _ of [1, 2]) expect((await ask()).text).toBe("Fine.");
  expect(offered()).toEqual([ALL, ALL, ALL]);
  expect(a.requests.map(({ body }) => body.reasoning_effort)).toEqual([undefined, "none", "none"]);
  expect(warned).toMatchObject([{ model: "a/m", quirk: "effortNone" }]);
  expect(warned[0]?.["remedy"]).toMatch(/reasoningEffort/);
  // Without tools it may think.
  await ask({ request: { tools: [] } });
  expect(a.requests.at(-1)?.body).not.toHaveProperty("reasoning_effort");
  expect((await healthOf(model)).models).toMatchObject({ "a/m": [{ quirk: "effortNone", lasts: true }] });
});

test("M1: an effort of the settings is given up for the tools, whatever code comes with it, in a bounded number of requests", async () => {
  const tried: unknown[] = [];
  const { ask, a } = await open(
    ({ body }) => {
      const effort = body.reasoning_effort;
      tried.push(effort);
      if (!body.tools || effort === "none") return "Fine.";
      return [
        refusal(400, { message: "No", param: "reasoning_effort", code: effort ? "unsupported_value" : null }),
      ];
    },
    { body: { reasoning_effort: "high" } },
  );
  for (const _ of [1, 2]) expect((await ask()).text).toBe("Fine.");
  expect(tried).toEqual(["high", undefined, "none", "none"]);
  expect(a.requests.every(({ body }) => body.tools)).toBe(true);

  const never = await open(() => [refusal(400, { message: "No", param: "reasoning_effort" })]);
  await expect(never.ask()).rejects.toThrow("(400)");
  expect(never.a.requests).toHaveLength(2);
});

const GENERATED = [
  "Sorry, tools are not supported here.",
  "The system prompt is not supported",
  "unexpected role system",
  "roles must alternate",
  '<function=find{"q": "a"}</function>',
];

describe("M2, M3: what a model wrote teaches nothing", () => {
  test.each(GENERATED)("quoted in a refused call, which is asked again: %s", async (words) => {
    const failed = refusal(400, {
      message:
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: words,
    });
    const { ask, offered, a, warned } = await open([[failed], "Fine.", "Fine."]);
    for (const _ of [1, 2]) expect((await ask()).text).toBe("Fine.");
    expect(offered()).toEqual([ALL, ALL, ALL]);
    expect(new Set(a.requests.map(({ body }) => JSON.stringify(body.messages))).size).toBe(1);
    expect(warned).toEqual([]);
  });

  test("a call that fails each time is asked for three times", async () => {
    const { ask, a } = await open(() => [refusal(400, { message: "No", code: "tool_use_failed" })]);
    await expect(ask()).rejects.toThrow("The model answered with an error (400)");
    expect(a.requests).toHaveLength(3);
  });

  test.each([
    [500, "Tool calling is temporarily not available"],
    [404, "No endpoints found that support tool use"],
    [400, "Sorry, tools are not supported here."],
  ])("with %i: %s", async (code, message) => {
    const { ask, offered } = await open(({ body: { messages } }) =>
      JSON.stringify(messages).includes("first") ? [refusal(code, { message })] : "Fine.",
    );
    await ask({ request: { messages: [{ role: "user", content: "first" }] } }).catch(() => {});
    expect((await ask()).text).toBe("Fine.");
    expect(offered().at(-1)).toEqual(ALL);
  });

  test("in a chain, a visitor's failed call does not keep others from its first model", async () => {
    const { ask } = await open([[refusal(400, { message: "No", code: "tool_use_failed" })], "Fine."], {
      b: () => "Also fine.",
    });
    expect((await ask()).by).toBe("b/m");
    expect((await ask()).by).toBe("a/m");
  });
});

describe("M5: a schema that is refused by its place", () => {
  const no = refusal(400, {
    message:
      "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.color': type is not defined>",
    type: "invalid_request_error",
  });
  const strict: Script = ({ body }) => (JSON.stringify(body.tools ?? []).includes('"any"') ? [no] : "Fine.");

  test("its tool alone is left out of the turn that meets it, with one warning, where the server is not known", async () => {
    const { ask, offered, warned, told } = await open(strict);
    for (const _ of [1, 2]) expect(await ask()).toMatchObject({ text: "Fine.", leftOutTools: ["paint"] });
    expect(offered()).toEqual([ALL, ["find"], ALL, ["find"]]);
    expect(warned).toMatchObject([{ model: "a/m", tools: ["paint"] }]);
    expect(warned[0]?.["remedy"]).toMatch(/"profile"/);
    expect(told).toMatchObject([{ tools: ["paint"] }, { tools: ["paint"] }]);
  });

  test("it is left out for an hour where the server is known, and then asked again", async () => {
    const { ask, offered, warned, pass } = await open(strict, { profile: "moonshot" });
    await ask();
    await ask();
    expect(offered()).toEqual([ALL, ["find"], ["find"]]);
    pass(LEARNED_FOR_MS);
    await ask();
    expect(offered().slice(3)).toEqual([ALL, ["find"]]);
    expect(warned).toHaveLength(2);
  });

  test.each<[place: string, what: string, schema: object]>([
    [
      "root",
      "when using anyOf, type should be defined in anyOf items instead of the parent schema",
      { anyOf: [{}] },
    ],
    [
      "properties.questions.items.properties.options",
      "when using anyOf, type should be defined in anyOf items instead of the parent schema",
      {
        properties: {
          questions: { type: "array", items: { properties: { options: { type: "array", anyOf: [{}] } } } },
        },
      },
    ],
    [
      "properties.assetRef",
      "conflicting keywords found after $ref expansion: description",
      { properties: { assetRef: { $ref: "#/$defs/ref", description: "An asset" } } },
    ],
    ["properties.size.anyOf.0", "type is not defined", { properties: { size: { anyOf: [{ const: 1 }] } } }],
  ])("its place may be %s", async (place, what, schema) => {
    const odd = { name: "odd", description: "", parameters: { type: "object", ...schema } };
    const message = `tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '${place}': ${what}>`;
    const refuses: Script = ({ body }) =>
      JSON.stringify(body.tools).includes('"odd"') ? [refusal(400, { message })] : "Fine.";
    const { ask, offered } = await open(refuses, { profile: "moonshot" });
    await ask({ request: { tools: [...TOOLS, odd] } });
    await ask({ request: { tools: [...TOOLS, odd] } });
    expect(offered()).toEqual([["find", "paint", "odd"], ALL, ALL]);
  });

  test("of two tools with that place none is left out for longer than the turn", async () => {
    const other = {
      name: "draw",
      description: "",
      parameters: { type: "object", properties: { color: {} } },
    };
    const { ask, offered } = await open(strict, { profile: "moonshot" });
    await ask({ request: { tools: [...TOOLS, other] } });
    await ask({ request: { tools: [other] } });
    expect(offered()).toEqual([["find", "paint", "draw"], ["find", "draw"], ["draw"]]);
  });
});

describe("what is learned", () => {
  test("is asked again after an hour", async () => {
    const no = refusal(400, { message: "No", param: "temperature", code: "unsupported_value" });
    const { ask, a, pass, model, warned } = await open(({ body }) => (body.temperature ? [no] : "Fine."), {
      body: { temperature: 0.5 },
    });
    await ask();
    await ask();
    expect(a.requests.map(({ body }) => body.temperature)).toEqual([0.5, undefined, undefined]);
    pass(LEARNED_FOR_MS - 1);
    await ask();
    expect(model.notes?.()).toMatchObject([{ provider: "a", model: "m", quirk: "leftOut", forSeconds: 1 }]);
    pass(1);
    expect(model.notes?.()).toEqual([]);
    await ask();
    expect(a.requests.slice(3).map(({ body }) => body.temperature)).toEqual([undefined, 0.5, undefined]);
    expect(warned).toHaveLength(2);
  });

  test("is counted by model and kind", async () => {
    const no = refusal(400, { message: "No", param: "tools", code: "unsupported_parameter" });
    const { ask, model } = await open(({ body }) => (body.tools ? [no] : "Fine."));
    const metrics = await createMetrics();
    const none = { openStreams: () => 0, threadsHeld: () => 0, repliesWaiting: () => 0, openFeeds: () => 0 };
    metrics.watch({
      ...none,
      waitingForPerson: async () => 0,
      withPerson: async () => 0,
      messengers: async () => [],
      webhooks: async () => [],
      lostLines: () => 0,
      modelNotes: () => model.notes?.() ?? [],
    });
    expect(await metrics.text()).not.toContain('quirk="tools"');
    await ask();
    expect(await valueOf(metrics, 'chat_agent_model_quirks{provider="a",model="m",quirk="tools"}')).toBe(1);
  });

  test("is told once in an hour, however many turns meet it", async () => {
    const no = status(400, {}, JSON.stringify({ error: "llama3 does not support tools" }));
    const { ask, a, warned } = await open(({ body }) => (body.tools ? [no] : "Fine."));
    for (const _ of [1, 2, 3]) await ask();
    expect(a.requests).toHaveLength(6);
    expect(warned).toMatchObject([{ model: "a/m", quirk: "tools" }]);
    expect(warned[0]?.["remedy"]).toMatch(/"tools": false.*"profile"/);
  });

  test("an image that may be why a request is refused is left out of that request alone", async () => {
    const images = [{ label: "dot.png", url: "data:image/png;base64,iVBORw0KGgo=" }];
    const request = { messages: [{ role: "user" as const, content: "Hi", images }] };
    const { ask, a, warned } = await open([
      [refusal(400, { message: "No such thing" })],
      "I see nothing.",
      "A dot.",
    ]);
    expect((await ask({ request })).text).toBe("I see nothing.");
    expect((await ask({ request })).text).toBe("A dot.");
    expect(a.requests.map(({ body }) => Array.isArray(body.messages.at(-1)?.content))).toEqual([
      true,
      false,
      true,
    ]);
    expect(warned).toMatchObject([{ quirk: "images" }]);
  });
});

describe("B7, M10, M23: a chain asks the next one", () => {
  const json = (body: unknown) => status(200, { "content-type": "application/json" }, JSON.stringify(body));
  const retired = {
    message: "The model m does not exist",
    type: "invalid_request_error",
    code: "model_not_found",
  };
  const CASES: [what: string, turn: ScriptedTurn][] = [
    ["a login page", [status(200, { "content-type": "text/html" }, "<!doctype html><title>Sign in</title>")]],
    ["an error as JSON with 200", [json({ error: { message: "No", code: 400 } })]],
    ["an error's sentence as JSON with 200", [json({ error: "No" })]],
    ["a detail as JSON with 200", [json({ detail: "Not authenticated" })]],
    [
      "an error in the stream that is of the request",
      [bytes('data: {"error":{"message":"No","code":422}}\n\n'), cut()],
    ],
    ["a model that is gone", [refusal(404, retired)]],
    ["a model that is gone, with 400", [refusal(400, { ...retired, code: "model_decommissioned" })]],
    ["a bare 404", [status(404, {}, "")]],
    ["410", [status(410)]],
    ["424", [status(424)]],
    ["a redirect that is not followed", [status(307, { location: "http://127.0.0.1:9/" }, "")]],
    ["a lasting redirect", [status(308, { location: "http://127.0.0.1:9/" }, "")]],
    ["an empty answer", [chunk({}, "stop"), bytes("data: [DONE]\n\n"), cut()]],
    ["a call that nobody can read", [call("find", '{"q": ')]],
    ["a malformed call by its end", [chunk({}, "MALFORMED_FUNCTION_CALL"), bytes("data: [DONE]\n\n"), cut()]],
    ["an end that names an error", [chunk({}, "overloaded_error"), bytes("data: [DONE]\n\n"), cut()]],
  ];

  test.each(CASES)("after %s", async (_what, turn) => {
    const { ask, a, b } = await open([turn], { b: ["Fine."] });
    expect(await ask()).toMatchObject({ text: "Fine.", by: "b/m" });
    expect([a.requests.length, b.requests.length]).toEqual([1, 1]);
  });

  test("after a filter's refusal it does not, nor after the first text, nor when a request is wrong", async () => {
    const { ask, model, a, b } = await open(
      [
        [chunk({}, "SAFETY"), bytes("data: [DONE]\n\n"), cut()],
        [say("Hel"), hold(), bytes('data: {"error":{"message":"No","code":503}}\n\n'), cut()],
        [refusal(400, { message: "No", code: "invalid_value" })],
      ],
      { b: () => "Fine." },
    );
    expect((await ask()).finishReason).toBe("content_filter");
    const { turn, written } = startTurn(model, { request: { model: "default" } });
    await expect.poll(() => written).toEqual(["Hel"]);
    a.release();
    await expect(turn).rejects.toThrow("(503)");
    await expect(ask()).rejects.toThrow("(400)");
    expect(b.requests).toEqual([]);
  });

  test("a run that has said something may end in silence", async () => {
    const { ask, b } = await open([[chunk({}, "stop"), bytes("data: [DONE]\n\n"), cut()]], { b: ["Fine."] });
    const messages = [
      { role: "user" as const, content: "Buy" },
      {
        role: "assistant" as const,
        content: "I buy it.",
        calls: [{ callId: "c", name: "find", arguments: "{}" }],
      },
      { role: "tool" as const, callId: "c", content: "bought" },
    ];
    expect((await ask({ request: { messages } })).text).toBe("");
    expect(b.requests).toEqual([]);
  });

  test("M23: a model that is gone is told once, and in /health until it answers", async () => {
    const { ask, warned, model, pass } = await open(
      [[refusal(404, retired)], [refusal(404, retired)], "Back."],
      {
        b: () => "Fine.",
      },
    );
    await ask();
    pass(300_000);
    await ask();
    const gone = warned.filter(({ text }) => text.startsWith("a model is gone"));
    expect(gone).toMatchObject([{ model: "a/m" }]);
    expect(gone[0]?.["remedy"]).toMatch(/name another model instead of a\/m/);
    expect((await healthOf(model)).models).toMatchObject({ "a/m": [{ quirk: "gone" }] });
    pass(600_000);
    expect((await ask()).by).toBe("a/m");
    expect((await healthOf(model)).models).toBeUndefined();
  });

  test("what it does not rest for is told once in a while", async () => {
    const { ask, a, warned } = await open(() => [chunk({}, "stop"), bytes("data: [DONE]\n\n"), cut()], {
      b: () => "Fine.",
    });
    for (const _ of [1, 2, 3]) expect((await ask()).by).toBe("b/m");
    expect(a.requests).toHaveLength(3);
    expect(warned).toMatchObject([{ model: "a/m", next: "b/m" }]);
  });
});

describe("B8: filters in other words", () => {
  const end = (reason: string): ScriptedTurn => [chunk({}, reason), bytes("data: [DONE]\n\n"), cut()];
  const withheld = "The answer was withheld by the model's content filter";

  test.each<[what: string, turn: ScriptedTurn, profile?: "gemini" | "xai" | "deepseek"]>([
    ["SAFETY", end("SAFETY")],
    ["PROHIBITED_CONTENT", end("PROHIBITED_CONTENT")],
    ["content_filter: RECITATION", end("content_filter: RECITATION")],
    ["a refusal", end("refusal")],
    ["guardrail_intervened", end("guardrail_intervened")],
    [
      "no choice at all",
      [
        bytes('data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}\n\ndata: [DONE]\n\n'),
        cut(),
      ],
      "gemini",
    ],
    [
      "a stream that ends without a choice",
      [bytes('data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}\n\n'), cut()],
      "gemini",
    ],
    [
      "a whole answer without a choice",
      [
        status(
          200,
          { "content-type": "application/json" },
          '{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}',
        ),
      ],
      "gemini",
    ],
    ["a code", [refusal(400, { message: "No", code: "content_policy_violation" })]],
    [
      "an inner code",
      [refusal(400, { message: "No", code: "x", innererror: { code: "ResponsibleAIPolicyViolation" } })],
    ],
    [
      "xAI's 403",
      [
        status(
          403,
          {},
          '{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO"}',
        ),
      ],
      "xai",
    ],
    ["DeepSeek's sentence", [refusal(400, { message: "Content Exists Risk" })], "deepseek"],
  ])("%s is said as such, asked once, and the message is not sent again", async (_what, turn, profile) => {
    const { model, a } = await open(
      ({ body }) => (JSON.stringify(body.messages).includes("Bad words") ? turn : "Hello"),
      profile ? { profile } : {},
    );
    const service = await startTestService({ model, channels: [shopChannel()] });
    const shopper = await openShopper(() => service.url);
    expect(await shopper.say("Bad words")).toEqual([{ type: "error", message: withheld }]);
    expect(a.requests).toHaveLength(1);
    expect(textOf(await shopper.say("Sorry"))).toBe("Hello");
    expect(JSON.stringify(a.requests.at(-1)?.body.messages)).not.toContain("Bad words");
  });

  test("words that a refusal quotes withhold nothing", async () => {
    const { ask } = await open([
      [refusal(400, { message: "No", failed_generation: '"content_filter" Content Exists Risk' })],
    ]);
    await expect(ask()).rejects.toThrow("The model answered with an error (400)");
  });

  test.each([
    "MALFORMED_FUNCTION_CALL",
    "function_call_filter: MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
  ])("%s is asked again", async (reason) => {
    const { ask, a } = await open([end(reason), "Fine."]);
    expect((await ask()).text).toBe("Fine.");
    expect(a.requests).toHaveLength(2);
  });

  test.each(["STOP", "stop", "tool_use", "eos_token"])("%s is an end of its own", async (reason) => {
    const { model } = await open([[chunk({ content: "Hi" }, reason), bytes("data: [DONE]\n\n"), cut()]]);
    const { url } = await startTestService({ model });
    const { lines } = await sendMessage(url, { threadId: "t", userId: "u", text: "Hi" });
    expect(lines.at(-1)).toMatchObject({ type: "done" });
    expect(lines.at(-1)).not.toHaveProperty("finishReason");
  });

  test.each(["overloaded_error", "server-error", "internal_failure", "upstream_timeout", "model_overloaded"])(
    "B2: half an answer that ends as %s is none",
    async (reason) => {
      const { model, a } = await open([
        [say("Half"), hold(), chunk({}, reason), bytes("data: [DONE]\n\n"), cut()],
      ]);
      const { turn, written } = startTurn(model, { request: { model: "default" } });
      await expect.poll(() => written).toEqual(["Half"]);
      a.release();
      await expect(turn).rejects.toThrow("The model answered with an error");
    },
  );

  test.each(["MAX_TOKENS", "model_length"])("%s is told as length", async (reason) => {
    const { ask } = await open([[chunk({ content: "Half" }, reason), bytes("data: [DONE]\n\n"), cut()]]);
    expect((await ask()).finishReason).toBe("length");
  });
});
