import { expect, test } from "vitest";
import { learn, refusesAnImage } from "../../src/models/learn.ts";
import { NO_QUIRKS } from "../../src/models/quirks.ts";
import type { Quirks } from "../../src/models/quirks.ts";
import { requestBody } from "../../src/models/request-body.ts";
import { plainRequest } from "../support/open-model.ts";

const by = "p/m";
const call = { callId: "c1", name: "buy", arguments: "{}", extra: { extra_content: { a: 1 } } };
const bodyWith = (quirks: Quirks) =>
  requestBody(
    {
      ...plainRequest,
      messages: [
        { role: "system", content: "Be kind" },
        { role: "user", content: "Buy" },
        { role: "assistant", content: "", calls: [call], by, extra: { reasoning_content: "Hm" } },
        { role: "tool", callId: "c1", content: "bought" },
      ],
      tools: [{ name: "buy", description: "", parameters: { type: "object" } }],
      maxOutputTokens: 9,
      body: { temperature: 0.2, reasoning_effort: "low" },
    },
    { by, model: "m", quirks, body: {} },
  );

function learned(status: number, text: string, quirks: Partial<Quirks> = {}): Partial<Quirks> | null {
  const before = { ...NO_QUIRKS, ...quirks };
  const after = learn({ status, text, body: bodyWith(before) }, before);
  if (after === null) return null;
  const names = Object.keys(after) as (keyof Quirks)[];
  return Object.fromEntries(
    names.filter((name) => after[name] !== before[name]).map((name) => [name, after[name]]),
  );
}

const error = (message: string, param: string | null = null) =>
  JSON.stringify({ error: { message, param, code: null } });

const withImages = (text: string, quirks: Partial<Quirks> = {}) => {
  const before = { ...NO_QUIRKS, ...quirks };
  const images = [{ label: "a.png", url: "data:image/png;base64,iVBORw0KGgo=" }];
  const request = { ...plainRequest, messages: [{ role: "user" as const, content: "Hi", images }] };
  const body = requestBody(request, { by, model: "m", quirks: before, body: {} });
  return { refused: { status: 400, text, body }, before };
};

test.each<[server: string, text: string]>([
  ["OpenAI", error("Invalid content type. image_url is only supported by certain models.")],
  [
    "DeepSeek",
    error(
      "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`",
    ),
  ],
  [
    "llama.cpp",
    error("image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
  ],
  ["Mistral", '{"message":"Image input is not enabled for this model"}'],
  ["vLLM", error("At most 0 image(s) may be provided in one request.")],
  ["vLLM, of another model", error("m is not a multimodal model None")],
  [
    "Groq",
    error(
      "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]",
    ),
  ],
  ["OpenRouter", error("No endpoints found that support image input")],
  ["Ollama", error("Failed to process inputs: this model is missing data required for image input")],
  ["LM Studio", error("Model does not support images. Please use a model that does.")],
  [
    "a strict server",
    '{"detail":[{"loc":["body","messages",0,"content","str"],"msg":"Input should be a valid string"}]}',
  ],
])("%s does not see: images are named from then on", (_server, text) => {
  const { refused, before } = withImages(text);
  expect(learn(refused, before)).toEqual({ ...before, images: false });
  const blind = withImages(text, { images: false });
  expect(learn(blind.refused, blind.before)).toBeNull();
});

test.each([
  "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png']",
  "The image data you provided does not represent a valid image.",
  "Error while downloading https://cdn.example/a.png. image_url could not be fetched",
  "messages.0.content.1.image: image exceeds 5 MB maximum",
  "image media type image/webp is not supported",
])("a refusal of this image teaches nothing of images: %s", (message) => {
  const { refused, before } = withImages(error(message));
  expect(learn(refused, before)).toBeNull();
  expect(refusesAnImage(refused)).toBe(true);
  expect(refusesAnImage({ ...refused, status: 500, body: bodyWith(NO_QUIRKS) })).toBe(false);
});

test.each<[server: string, status: number, text: string, Partial<Quirks>]>([
  [
    "an old vLLM",
    400,
    "{\"message\":\"[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]\"}",
    { streamUsage: false },
  ],
  [
    "Azure before 2024-09",
    400,
    error("Unrecognized request argument supplied: stream_options"),
    { streamUsage: false },
  ],
  [
    "Mistral",
    422,
    '{"message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}}',
    { maxTokensField: "max_tokens", leftOut: ["max_completion_tokens"] },
  ],
  ["Ollama", 400, error("registry.ollama.ai/library/llama3:8b does not support tools"), { tools: false }],
  [
    "vLLM",
    400,
    '{"message":"\\"auto\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}',
    { tools: false },
  ],
  ["OpenRouter", 404, error("No endpoints found that support tool use."), { tools: false }],
  ["llama.cpp without --jinja", 500, error("tools param requires --jinja flag"), { tools: false }],
  ["Groq, of a model", 400, error("`tool calling` is not supported with this model"), { tools: false }],
  [
    "Mistral, of a model",
    400,
    '{"message":"Function calling is not enabled for this model"}',
    { tools: false },
  ],
  [
    "Gemma by Google",
    400,
    error("Developer instruction is not enabled for models/gemma-3-27b-it"),
    { systemRole: false },
  ],
  ["a Gemma template", 400, error("System role not supported"), { systemRole: false }],
  [
    "a Ministral template",
    500,
    error("Only user, assistant and tool roles are supported, got system"),
    { systemRole: false },
  ],
  [
    "OpenAI, of o1-mini",
    400,
    error("Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    { systemRole: false },
  ],
  ["a server without results", 400, error("Unknown role: tool"), { tools: false }],
  [
    "LM Studio, of a template that reads arguments",
    400,
    '{"error":"Error rendering prompt with jinja template: \\"Unknown StringValue filter: items\\"."}',
    { objectArguments: true },
  ],
  [
    "vLLM, of a template that reads arguments",
    400,
    error("Can only get item pairs from a mapping."),
    { objectArguments: true },
  ],
  [
    "Mistral, of the order",
    400,
    "{\"message\":\"Unexpected role 'user' after role 'tool'\"}",
    { answersResults: true },
  ],
  [
    "omlx",
    500,
    error("Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9"),
    { nineCharIds: true },
  ],
  [
    "DeepSeek",
    400,
    error("Missing reasoning_content field in the assistant message at message index 2"),
    { reasoningField: true },
  ],
  [
    "Gemini 3",
    400,
    '[{"error":{"code":400,"message":"function call `default_api:buy` in the 2. content block is missing a `thought_signature`."}}]',
    { tellsUnknownCalls: true },
  ],
  [
    "Groq, of a field",
    400,
    error(
      "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
    ),
    { leftOut: ["reasoning_content"] },
  ],
  [
    "Mistral, of a field",
    422,
    '{"detail":[{"type":"extra_forbidden","loc":["body","messages",3,"assistant","reasoning_content"]}]}',
    { leftOut: ["reasoning_content"] },
  ],
  [
    "a strict server, of a call's field",
    400,
    error("Unknown parameter: 'messages[2].tool_calls[0].extra_content'"),
    { leftOut: ["extra_content"] },
  ],
  [
    "OpenAI, of a setting",
    400,
    error(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      "temperature",
    ),
    { leftOut: ["temperature"] },
  ],
  [
    "OpenAI, of an effort",
    400,
    error("Unrecognized request argument supplied: reasoning_effort"),
    { leftOut: ["reasoning_effort"] },
  ],
  [
    "a server in Rust, which names the fields that it knows,",
    422,
    "Failed to deserialize the JSON body: unknown field `temperature`, expected one of `model`, `messages`, `max_tokens`, `max_completion_tokens`, `tools`, `stream_options`, `reasoning_effort` at line 1 column 90",
    { leftOut: ["temperature"] },
  ],
  ...[
    "unknown field `tools`, expected one of `model`, `messages`",
    'json: unknown field "tools"',
    "Unrecognized request argument supplied: tools",
    "Unsupported parameter: 'tools'",
    "Unrecognized key(s) in object: 'tools'",
    "extraneous key [tools] is not permitted",
    "tools: Extra inputs are not permitted",
    "tools is not allowed",
  ].map((said): [string, number, string, Partial<Quirks>] => [
    `a server by "${said}"`,
    400,
    error(said),
    { tools: false },
  ]),
  [
    "a DeepSeek reasoner",
    400,
    error("The reasoning_content field must not be included in the input messages"),
    { leftOut: ["reasoning_content"] },
  ],
  [
    "Ollama, of a model that does not think",
    400,
    error('"qwen2.5:7b" does not support thinking'),
    { leftOut: ["reasoning_effort"] },
  ],
  [
    "Ollama, of how much a model thinks",
    400,
    error('think value "low" is not supported for this model'),
    { leftOut: ["reasoning_effort"] },
  ],
  [
    "LM Studio",
    400,
    "{\"error\":\"Invalid 'content': 'content' field must be a string or an array of objects.\"}",
    { noContent: "empty" },
  ],
  [
    "an old vLLM, of null",
    400,
    '{"detail":[{"loc":["body","messages",2,"content"],"msg":"none is not an allowed value"}]}',
    { noContent: "empty" },
  ],
  [
    "a template that reads arguments",
    500,
    error("Can only get item pairs from a mapping: arguments must be a dict"),
    { objectArguments: true },
  ],
])("what %s says is heeded", (_server, status, text, quirks) => {
  expect(learned(status, text)).toEqual(quirks);
});

test("max_tokens is refused in its turn, and then neither is sent", () => {
  const said =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  expect(learned(400, error(said), { maxTokensField: "max_tokens" })).toMatchObject({
    maxTokensField: "max_completion_tokens",
  });
  expect(
    learned(400, error(said), { maxTokensField: "max_tokens", leftOut: ["max_completion_tokens"] }),
  ).toMatchObject({ maxTokensField: null });
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
  const refusal = JSON.stringify([
    {
      error: {
        code: 400,
        message: `Invalid JSON payload received. Unknown name "$schema" at '${place}': Cannot find field.\nInvalid JSON payload received. Unknown name "additionalProperties" at 'request.${place}': Cannot find field.\nInvalid JSON payload received. Unknown name "const" at '${place}.properties[1].value': Cannot find field.`,
        status: "INVALID_ARGUMENT",
      },
    },
  ]);
  const body = (quirks: Quirks) => requestBody(request, { by, model: "m", quirks, body: {} });
  const after = learn({ status: 400, text: refusal, body: body(NO_QUIRKS) }, NO_QUIRKS);
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
  expect(learn({ status: 400, text: refusal, body: sent }, after ?? NO_QUIRKS)).toBeNull();
});

test("a template with two roles in turn is told the system's words, and in the end calls too, in the user's", () => {
  const alternate = error("Conversation roles must alternate user/assistant/user/assistant/...");
  expect(learned(500, alternate)).toEqual({ answersResults: true });
  expect(learned(500, alternate, { answersResults: true })).toEqual({ systemRole: false });
  expect(learned(500, alternate, { answersResults: true, systemRole: false })).toEqual({ tools: false });
  expect(learned(500, alternate, { answersResults: true, systemRole: false, tools: false })).toBeNull();
  const onlyTwo = error("Only user and assistant roles are supported!");
  expect(learned(400, onlyTwo)).toEqual({ systemRole: false });
  expect(learned(400, onlyTwo, { systemRole: false })).toEqual({ tools: false });
  expect(learned(400, onlyTwo, { systemRole: false, tools: false })).toBeNull();
});

test("an empty text that is refused too is left out", () => {
  expect(learned(400, error("content must be non-empty"), { noContent: "empty" })).toEqual({
    noContent: "absent",
  });
});

test.each<[what: string, status: number, text: string]>([
  ["a wrong key", 401, error("Unsupported tools")],
  ["too many requests", 429, error("tool calling is not supported at this rate")],
  ["a context that is too long", 400, error("This model's maximum context length is 8192 tokens")],
  ["a part of a tool", 400, error("Unknown parameter: 'tools[0].function.strict'.")],
  ["a length out of range", 400, error("max_completion_tokens is too large: 9")],
  ["a length that is not to be had", 400, error("max_completion_tokens must not be set above 8")],
  ["an outage", 500, error("The server had an error while processing your request")],
  ["nothing", 400, ""],
])("%s teaches nothing", (_what, status, text) => {
  expect(learned(status, text)).toBeNull();
});

test("whatever is refused, and however often, a server is asked a bounded number of times", () => {
  const text = error(
    "unsupported stream_options max_completion_tokens max_tokens tools not supported; system role not supported; roles must alternate; reasoning_content must be passed; missing a thought_signature; tool call id length of 9; arguments must be object; extra_content temperature reasoning_effort unknown; content null",
  );
  let quirks: Quirks | null = NO_QUIRKS;
  let lessons = 0;
  while (quirks !== null) {
    quirks = learn({ status: 400, text, body: bodyWith(quirks) }, quirks);
    lessons += 1;
    expect(lessons).toBeLessThan(20);
  }
});
