// For src/models/refusals/learn.ts, src/models/refusals/quirks.ts, src/models/refusals/refusal.ts,
// src/models/refusals/sentences.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { learn } from "../../../src/models/refusals/learn.ts";
import { ALL_SENTENCES, PROFILE_NAMES, PROFILES, profileOf } from "../../../src/models/refusals/profiles.ts";
import type { ProfileName } from "../../../src/models/refusals/profiles.ts";
import { NO_QUIRKS } from "../../../src/models/refusals/quirks.ts";
import type { Quirks } from "../../../src/models/refusals/quirks.ts";
import { readRefusal } from "../../../src/models/refusals/refusal.ts";
import { hear } from "../../../src/models/refusals/sentences.ts";
import { requestBody } from "../../../src/models/request/request-body.ts";
import { plainRequest } from "../../support/servers/open-model.ts";

const by = "p/m";
const call = { callId: "c1", name: "buy", arguments: "{}", extra: { extra_content: { a: 1 } } };
const image = { label: "a.png", url: "data:image/png;base64,iVBORw0KGgo=" };
const tool = {
  name: "buy",
  description: "",
  parameters: { type: "object", properties: { sku: { type: "string" } } },
};

/** Everything that a server may refuse, and a visitor's text. */
const bodyWith = (quirks: Quirks, text = "Buy", shows = false) =>
  requestBody(
    {
      ...plainRequest,
      messages: [
        { role: "system", content: "Be kind" },
        { role: "user", content: text, ...(shows ? { images: [image] } : {}) },
        { role: "assistant", content: "", calls: [call], by, extra: { reasoning_content: "Hm" } },
        { role: "tool", callId: "c1", content: "bought" },
      ],
      tools: [tool],
      maxOutputTokens: 9,
      body: { temperature: 0.2, reasoning_effort: "low" },
    },
    { by, model: "m", quirks, body: {} },
  );

interface Told {
  profile?: ProfileName | null;
  quirks?: Partial<Quirks>;
  /** What the visitor wrote. */
  says?: string;
  shows?: boolean;
}

/** What changes, and whether it stays so; null: nothing. */
function learned(status: number, text: string, { profile = null, quirks = {}, says, shows }: Told = {}) {
  const before = { ...NO_QUIRKS, ...quirks };
  const refused = {
    refusal: readRefusal(status, text),
    body: bodyWith(before, says, shows),
    profile: profile && PROFILES[profile],
  };
  const lesson = learn(refused, before);
  const after = lesson?.apply(before);
  if (!lesson || !after) return null;
  const names = (Object.keys(after) as (keyof Quirks)[]).filter((name) => after[name] !== before[name]);
  return { ...Object.fromEntries(names.map((name) => [name, after[name]])), lasts: lesson.lasts };
}

const error = (message: string, more: object = {}) =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null, ...more } });

describe("by a code and a place, of any server", () => {
  test.each<[what: string, status: number, text: string, Partial<Quirks>]>([
    [
      "M1: an effort that is refused beside tools",
      400,
      error("Function tools with reasoning_effort are not supported", { param: "reasoning_effort" }),
      { effortNone: true },
    ],
    [
      "a setting's value",
      400,
      error("Unsupported value: 'temperature'", { param: "temperature", code: "unsupported_value" }),
      { leftOut: ["temperature"] },
    ],
    [
      "an effort that is unknown",
      400,
      error("No", { param: "reasoning_effort", code: "unknown_parameter" }),
      { leftOut: ["reasoning_effort"] },
    ],
    [
      "the length's field",
      400,
      error("No", { param: "max_completion_tokens", code: "unsupported_parameter" }),
      { maxTokensField: "max_tokens", leftOut: ["max_completion_tokens"] },
    ],
    ["tools", 400, error("No", { param: "tools", code: "unsupported_parameter" }), { tools: false }],
    [
      "a system message",
      400,
      error("Unsupported value", { param: "messages[0].role", code: "unsupported_value" }),
      { systemRole: false },
    ],
    [
      "a call's field",
      400,
      error("Unknown", { param: "messages[2].tool_calls[0].extra_content", code: "unknown_parameter" }),
      { leftOut: ["extra_content"] },
    ],
    [
      "FastAPI's stream_options",
      422,
      '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{}}]}',
      { streamUsage: false },
    ],
    [
      "Mistral's length",
      422,
      '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}}',
      { maxTokensField: "max_tokens", leftOut: ["max_completion_tokens"] },
    ],
    [
      "FastAPI's field of a message, after its role",
      422,
      '{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"]}]}',
      { leftOut: ["reasoning_content"] },
    ],
    [
      "FastAPI's content",
      400,
      '{"detail":[{"type":"type_error.none.not_allowed","loc":["body","messages",2,"content"],"msg":"none is not an allowed value"}]}',
      { noContent: "empty" },
    ],
    [
      "FastAPI's arguments",
      422,
      '{"detail":[{"type":"dict_type","loc":["body","messages",2,"tool_calls",0,"function","arguments"]}]}',
      { objectArguments: true },
    ],
    [
      "vLLM's flat error",
      400,
      '{"object":"error","message":"No","type":"BadRequestError","param":"temperature","code":"unsupported_value"}',
      { leftOut: ["temperature"] },
    ],
    [
      "Mistral's order",
      400,
      '{"object":"error","message":"Other words","type":"invalid_request_message_order","code":"3230"}',
      { answersResults: true },
    ],
  ])("%s is heeded, and kept", (_what, status, text, quirks) => {
    expect(learned(status, text)).toEqual({ ...quirks, lasts: true });
  });

  test("an effort that says none and is refused is left out, and then nothing is left", () => {
    const text = error("No", { param: "reasoning_effort", code: "unsupported_value" });
    const none = { effortNone: true };
    expect(learned(400, text, { quirks: none })).toEqual({ leftOut: ["reasoning_effort"], lasts: true });
    expect(learned(400, text, { quirks: { ...none, leftOut: ["reasoning_effort"] } })).toBeNull();
  });

  test.each<[what: string, status: number, text: string]>([
    ["a value out of range", 400, error("No", { param: "temperature", code: "decimal_above_max_value" })],
    ["a length that is too large", 400, error("No", { param: "max_completion_tokens" })],
    ["a field of a tool", 400, error("No", { param: "tools[0].function.strict", code: "unknown_parameter" })],
    ["a place that was not sent", 400, error("No", { param: "tools[7].function.parameters" })],
    ["the model's name", 400, error("No", { param: "model", code: "unsupported_value" })],
    ["a path of another error", 400, error("No", { param: "messages", code: "unknown_parameter" })],
    ["a wrong key", 401, error("No", { param: "tools", code: "unsupported_parameter" })],
    ["M2: an address that is not there", 404, error("No", { param: "tools", code: "unsupported_parameter" })],
    ["M2: too many requests", 429, error("No", { param: "tools", code: "unsupported_parameter" })],
    ["M2: an outage", 500, error("No", { param: "tools", code: "unsupported_parameter" })],
    ["nothing", 400, ""],
    ["no JSON of a refusal", 400, "[1]"],
  ])("%s teaches nothing", (_what, status, text) => {
    expect(learned(status, text)).toBeNull();
  });

  test("images are named where the place of all of them is refused, and not where one is", () => {
    const refused = (...loc: unknown[]) =>
      JSON.stringify({ detail: [{ type: "string_type", loc: ["body", "messages", 1, "content", ...loc] }] });
    expect(learned(422, refused("str"), { shows: true })).toEqual({ images: false, lasts: true });
    expect(learned(422, refused(1, "image_url"), { shows: true })).toBeNull();
    expect(learned(422, refused("str"), { shows: true, quirks: { images: false } })).toBeNull();
  });
});

/** What servers were seen to say; the sources are in profiles.ts. */
const SAID: [server: ProfileName, status: number, text: string, Partial<Quirks>][] = [
  [
    "openai",
    400,
    error("Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    { systemRole: false },
  ],
  [
    "openai",
    400,
    error(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    ),
    { leftOut: ["temperature"] },
  ],
  [
    "openai",
    400,
    error("Unrecognized request argument supplied: reasoning_effort"),
    { leftOut: ["reasoning_effort"] },
  ],
  ["openai", 400, error("Unrecognized request argument supplied: tools"), { tools: false }],
  [
    "openai",
    400,
    error(
      "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ),
    { effortNone: true },
  ],
  ["azure", 400, error("Unrecognized request argument supplied: stream_options"), { streamUsage: false }],
  ["azure", 400, error("Unsupported parameter: 'tools'"), { tools: false }],
  [
    "openai",
    400,
    error("Unknown parameter: 'messages[2].tool_calls[0].extra_content'."),
    { leftOut: ["extra_content"] },
  ],
  [
    "vllm",
    400,
    "{\"message\":\"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]\"}",
    { streamUsage: false },
  ],
  ["ollama", 400, error("registry.ollama.ai/library/llama3:8b does not support tools"), { tools: false }],
  ["ollama", 400, error('"qwen2.5:7b" does not support thinking'), { leftOut: ["reasoning_effort"] }],
  [
    "ollama",
    400,
    error('think value "low" is not supported for this model'),
    { leftOut: ["reasoning_effort"] },
  ],
  [
    "vllm",
    400,
    '{"message":"\\"auto\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}',
    { tools: false },
  ],
  ["llama.cpp", 500, error("tools param requires --jinja flag"), { tools: false }],
  ["groq", 400, error("`tool calling` is not supported with this model"), { tools: false }],
  ["mistral", 400, '{"message":"Function calling is not enabled for this model"}', { tools: false }],
  [
    "gemini",
    400,
    error("Developer instruction is not enabled for models/gemma-3-27b-it"),
    { systemRole: false },
  ],
  ["vllm", 400, error("System role not supported"), { systemRole: false }],
  [
    "llama.cpp",
    500,
    error("Only user, assistant and tool roles are supported, got system"),
    { systemRole: false },
  ],
  [
    "lmstudio",
    400,
    '{"error":"Error rendering prompt with jinja template: \\"Unknown StringValue filter: items\\".\\n\\nThis is usually an issue with the model\'s prompt template."}',
    { objectArguments: true },
  ],
  ["vllm", 400, error("Can only get item pairs from a mapping."), { objectArguments: true }],
  ["mistral", 400, "{\"message\":\"Unexpected role 'user' after role 'tool'\"}", { answersResults: true }],
  [
    "omlx",
    500,
    error("Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9"),
    { nineCharIds: true },
  ],
  [
    "deepseek",
    400,
    error("Missing reasoning_content field in the assistant message at message index 2"),
    { reasoningField: true },
  ],
  [
    "deepseek",
    400,
    error("The reasoning_content field must not be included in the input messages"),
    { leftOut: ["reasoning_content"] },
  ],
  [
    "gemini",
    400,
    '[{"error":{"code":400,"message":"Unable to submit request because function call `default_api:buy` in the 2. content block is missing a `thought_signature`."}}]',
    { tellsUnknownCalls: true },
  ],
  [
    "groq",
    400,
    error(
      "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
    ),
    { leftOut: ["reasoning_content"] },
  ],
  [
    "tgi",
    422,
    "Failed to deserialize the JSON body into the target type: unknown field `temperature`, expected one of `model`, `messages`, `tools`, `stream_options`, `reasoning_effort` at line 1 column 90",
    { leftOut: ["temperature"] },
  ],
  ["tgi", 422, "unknown field `tools`, expected one of `model`, `messages`", { tools: false }],
  ["bedrock", 400, error("extraneous key [tools] is not permitted"), { tools: false }],
  ["anthropic", 400, error("tools: Extra inputs are not permitted"), { tools: false }],
  [
    "lmstudio",
    400,
    "{\"error\":\"Invalid 'content': 'content' field must be a string or an array of objects.\"}",
    { noContent: "empty" },
  ],
  [
    "llama.cpp",
    500,
    error(
      '\n------------\nWhile executing CallExpression at line 19, column 27 in source:\n...% 2 == 0) -%}↵        {{ raise_exception("Conversation roles must alternate user...\n                                           ^\nError: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...',
    ),
    { answersResults: true },
  ],
];

const NO_IMAGES: [server: ProfileName, status: number, text: string][] = [
  ["openai", 400, error("Invalid content type. image_url is only supported by certain models.")],
  [
    "deepseek",
    400,
    error(
      "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`",
    ),
  ],
  [
    "llama.cpp",
    500,
    error("image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
  ],
  ["mistral", 400, '{"message":"Image input is not enabled for this model"}'],
  ["vllm", 400, error("At most 0 image(s) may be provided in one request.")],
  ["vllm", 400, error("m is not a multimodal model None")],
  [
    "groq",
    400,
    error(
      "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]",
    ),
  ],
  ["ollama", 400, error("Failed to process inputs: this model is missing data required for image input")],
  ["lmstudio", 400, error("Model does not support images. Please use a model that does.")],
];

describe("by a sentence", () => {
  test.each(SAID)(
    "of %s (%i) it is heeded, and kept where the server is known: %s",
    (profile, status, text, quirks) => {
      expect(learned(status, text, { profile })).toEqual({ ...quirks, lasts: true });
      const elsewhere = status === 500 ? null : { ...quirks, lasts: false };
      expect(learned(status, text)).toEqual(elsewhere);
    },
  );

  test.each([
    'json: unknown field "tools"',
    "Unrecognized key(s) in object: 'tools'",
    '"tools" is not allowed',
  ])("of a library that many servers have, it helps the turn: %s", (message) => {
    expect(learned(400, error(message))).toEqual({ tools: false, lasts: false });
  });

  test("M1: of a server behind LiteLLM, which puts a name before it", () => {
    for (const more of ["", "\nModel: gpt-6-sol (openai)", ". Received Model Group=gpt-6-sol"]) {
      const said =
        "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
      const text = error(`litellm.BadRequestError: OpenAIException - ${said}${more}`, { code: "400" });
      expect(learned(400, text, { profile: "litellm" })).toEqual({ effortNone: true, lasts: true });
      expect(learned(400, text)).toEqual({ effortNone: true, lasts: false });
    }
  });

  test("of vLLM, which adds that there is no cause", () => {
    const text = error("Conversation roles must alternate user/assistant/user/assistant/... None");
    expect(learned(400, text, { profile: "vllm" })).toEqual({ answersResults: true, lasts: true });
  });

  test.each(NO_IMAGES)("of %s (%i) images are named from then on: %s", (profile, status, text) => {
    expect(learned(status, text, { profile, shows: true })).toEqual({ images: false, lasts: true });
    expect(learned(status, text, { profile, shows: true, quirks: { images: false } })).toBeNull();
  });

  test("M2: OpenRouter's 404 says nothing of the next request", () => {
    const text = error('No endpoints found that support tool use. Try disabling "buy".');
    expect(learned(404, text, { profile: "openrouter" })).toEqual({ tools: false, lasts: false });
    expect(learned(404, text)).toBeNull();
  });

  test("M2: an outage teaches nothing, whatever its words, but for a template's of a server that runs one", () => {
    const text = error("Tool calling is temporarily not available");
    for (const profile of [null, ...PROFILE_NAMES]) expect(learned(500, text, { profile })).toBeNull();
    expect(learned(500, error("System role not supported"), { profile: "openai" })).toBeNull();
  });

  test("max_tokens is refused in its turn, and then neither is sent", () => {
    const text = error(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    const sent = { maxTokensField: "max_tokens" as const };
    expect(learned(400, text, { quirks: sent })).toMatchObject({ maxTokensField: "max_completion_tokens" });
    expect(learned(400, text, { quirks: { ...sent, leftOut: ["max_completion_tokens"] } })).toMatchObject({
      maxTokensField: null,
    });
  });

  test("a template with two roles in turn is told the system's words, and in the end calls too, in the user's", () => {
    const alternate = error("Conversation roles must alternate user/assistant/user/assistant/...");
    const told = (text: string, quirks: Partial<Quirks>) =>
      learned(500, text, { profile: "llama.cpp", quirks });
    const [answers, noSystem] = [{ answersResults: true }, { answersResults: true, systemRole: false }];
    expect(told(alternate, {})).toMatchObject(answers);
    expect(told(alternate, answers)).toMatchObject({ systemRole: false });
    expect(told(alternate, noSystem)).toMatchObject({ tools: false });
    expect(told(alternate, { ...noSystem, tools: false })).toBeNull();
    const onlyTwo = error("Only user and assistant roles are supported!");
    expect(told(onlyTwo, {})).toMatchObject({ systemRole: false });
    expect(told(onlyTwo, { systemRole: false })).toMatchObject({ tools: false });
    expect(told(onlyTwo, { systemRole: false, tools: false })).toBeNull();
  });

  test("an empty text that is refused too is left out", () => {
    const text = error("messages: text content blocks must be non-empty");
    expect(learned(400, text, { profile: "anthropic", quirks: { noContent: "empty" } })).toEqual({
      noContent: "absent",
      lasts: true,
    });
  });

  test("keywords that Gemini does not know are left out of all schemas, wherever they stand", () => {
    const parameters = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        const: { type: "string", const: "a" },
        size: {
          anyOf: [{ const: 1 }, { type: "array", items: { type: "object", additionalProperties: false } }],
        },
        kind: { enum: ["const"], default: { const: 1 } },
      },
      required: ["const"],
      additionalProperties: { const: 1 },
    };
    const request = { ...plainRequest, tools: [{ name: "find", description: "", parameters }] };
    const place = "tools[0].function_declarations[0].parameters";
    const lines = [
      `Invalid JSON payload received. Unknown name "$schema" at '${place}': Cannot find field.`,
      `Invalid JSON payload received. Unknown name "additionalProperties" at 'request.${place}': Cannot find field.`,
      `Invalid JSON payload received. Unknown name "const" at '${place}.properties[1].value': Cannot find field.`,
    ];
    const fieldViolations = lines.map((description) => ({ field: place, description }));
    const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations }];
    const said = { code: 400, message: lines.join("\n"), status: "INVALID_ARGUMENT", details };
    const refusal = readRefusal(400, JSON.stringify([{ error: said }]));
    const body = (quirks: Quirks) => requestBody(request, { by, model: "m", quirks, body: {} });
    const profile = PROFILES.gemini;
    const after = learn({ refusal, body: body(NO_QUIRKS), profile }, NO_QUIRKS)?.apply(NO_QUIRKS);
    expect(after).toEqual({ ...NO_QUIRKS, schemaKeywords: ["$schema", "additionalProperties", "const"] });
    const sent = body(after ?? NO_QUIRKS);
    expect(sent.tools?.[0]).toMatchObject({
      function: {
        parameters: {
          type: "object",
          properties: {
            const: { type: "string" },
            size: { anyOf: [{}, { type: "array", items: { type: "object" } }] },
            kind: { enum: ["const"], default: { const: 1 } },
          },
          required: ["const"],
        },
      },
    });
    expect(JSON.stringify(sent)).not.toMatch(/\$schema|additionalProperties|"const":"a"/);
    // What is not there any more cannot be why it was refused.
    expect(learn({ refusal, body: sent, profile }, after ?? NO_QUIRKS)).toBeNull();
  });

  test("whatever is refused, and however often, a server is asked a bounded number of times", () => {
    const texts = [...SAID, ...NO_IMAGES];
    for (const profile of PROFILE_NAMES) {
      let quirks: Quirks = NO_QUIRKS;
      let lessons = 0;
      for (let more = true; more;) {
        more = false;
        for (const [, status, text] of texts) {
          const body = bodyWith(quirks, "Buy", true);
          const refusal = readRefusal(status, text);
          const after = learn({ refusal, body, profile: PROFILES[profile] }, quirks)?.apply(quirks);
          if (!after) continue;
          more = true;
          quirks = after;
          lessons += 1;
        }
        expect(lessons).toBeLessThan(30);
      }
    }
  });

  test("each sentence is sought in a bounded time, whatever almost is one", () => {
    const pieces = ["a ", " ", "1", "------------\nWhile executing a at line 1"];
    for (const sentence of ALL_SENTENCES) {
      const [status = 400] = sentence.status ?? [];
      const beginnings = sentence.says
        .split(/\{\w+\}/)
        .map((_, at, parts) => parts.slice(0, at + 1).join("a"));
      for (const beginning of beginnings)
        for (const piece of pieces) {
          const message = `${beginning}${piece.repeat(8_000)}`.slice(0, 7_999) + "\u0000";
          expect(hear(message, [sentence], { status, body: null })?.length ?? 0).toBeLessThan(2);
        }
    }
  });

  test("what is not read of a sentence stands at its end, and a slot's place is one", () => {
    for (const { says, means } of ALL_SENTENCES) {
      expect(says.replace(/\{(any|rest)\}$/, "")).not.toMatch(/\{any\}|\{rest\}/);
      expect({ says, own: says.split(/\{\w+\}/).some((part) => part.trim().length >= 8) }).toEqual({
        says,
        own: true,
      });
      expect(means).toBeDefined();
    }
  });
});

describe("M2: words of others", () => {
  const sentences = [...SAID, ...NO_IMAGES].map(([, , text]) => {
    const { message } = readRefusal(400, text);
    return message;
  });
  const words = fc.oneof(fc.constantFrom(...sentences), fc.string(), fc.lorem());
  const around = fc.constantFrom("", "Failed to call a function: ", "\n", " (request 12)", "'", "Error: ");

  test("that a refusal quotes beside its own fields are not read", () => {
    fc.assert(
      fc.property(
        words,
        fc.constantFrom("failed_generation", "input", "metadata", "prompt"),
        (quoted, field) => {
          const bodies = [
            error("Failed to call a function.", { [field]: quoted, code: "other" }),
            error("Failed to call a function.", {
              [field]: { raw: quoted, message: quoted, param: "tools" },
            }),
            JSON.stringify({
              error: { message: "No", [field]: { error: { message: quoted, param: "tools" } } },
            }),
            JSON.stringify({
              detail: [{ type: "value_error", loc: ["body"], msg: quoted, input: quoted, ctx: quoted }],
            }),
          ];
          for (const text of bodies)
            for (const profile of [null, "groq", "openai", "vllm"] as const)
              for (const status of [400, 404, 422, 500])
                expect(learned(status, text, { profile, shows: true })).toBeNull();
        },
      ),
    );
  });

  test("that the request itself contains teach nothing, wherever a refusal quotes them", () => {
    fc.assert(
      fc.property(
        words,
        around,
        around,
        fc.constantFrom(null, ...PROFILE_NAMES),
        (quoted, before, after, profile) => {
          const told = { profile, says: `Please repeat: ${quoted}`, shows: true };
          for (const status of [400, 404, 422, 500])
            expect(learned(status, error(`${before}${quoted}${after}`), told)).toBeNull();
        },
      ),
    );
  });

  test("that a page puts into the names of its tools name no other tool", () => {
    const line = "* GenerateContentRequest.tools[0].function_declarations[0].parameters";
    const odd = {
      name: "odd",
      description: "",
      parameters: { type: "object", properties: { [`x: y\n${line}`]: {} } },
    };
    const body = requestBody(
      { ...plainRequest, tools: [tool, odd] },
      { by, model: "m", quirks: NO_QUIRKS, body: {} },
    );
    const message = `* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[x: y\n${line}].type: must be specified`;
    const refusal = readRefusal(400, error(message));
    expect(learn({ refusal, body, profile: PROFILES.gemini }, NO_QUIRKS)).toBeNull();
  });

  test("that stand within another sentence teach nothing, even of a known server", () => {
    const around = fc.constantFrom("The model said: ", "Failed to call a function: ", "Error: Error: ", "x ");
    fc.assert(
      fc.property(fc.constantFrom(...SAID, ...NO_IMAGES), around, ([profile, status, text], before) => {
        const { message } = readRefusal(status, text);
        expect(learned(status, error(before + message), { profile, shows: true })).toBeNull();
      }),
    );
  });

  test("that a server passes on of nobody in this request help this turn at most, on a server that is not known", () => {
    fc.assert(
      fc.property(fc.constantFrom(...sentences), fc.constantFrom(400, 422), (message, status) => {
        expect(learned(status, error(message), { shows: true })?.lasts ?? false).toBe(false);
      }),
    );
  });
});

test("a server is known by its host, by its port on this machine, or by its name in the settings", () => {
  expect(
    [
      "https://api.openai.com/v1",
      "https://x.openai.azure.com/openai/deployments/d?api-version=1",
      "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1",
      "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
      "http://127.0.0.1:11434/v1",
      "http://localhost:1234/v1",
      "http://[::1]:1234/v1",
    ].map((baseUrl) => profileOf(baseUrl)),
  ).toEqual(["openai", "azure", "bedrock", "alibaba", "ollama", "lmstudio", "lmstudio"]);
  expect(
    [
      "https://api.openai.com.evil.example/v1",
      "https://evil.example/api.openai.com",
      "http://10.0.0.1:11434/v1",
      "http://127.0.0.1:8000/v1",
    ].map((baseUrl) => profileOf(baseUrl)),
  ).toEqual([null, null, null, null]);
  expect(profileOf("http://127.0.0.1:8000/v1", "vllm")).toBe("vllm");
});
