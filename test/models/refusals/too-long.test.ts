// For src/models/input-fit.ts, src/models/refusals/profiles.ts, src/models/refusals/refusal.ts,
// src/models/refusals/too-long.ts
import { expect, test } from "vitest";
import { fitInput } from "../../../src/models/input-fit.ts";
import { PROFILES } from "../../../src/models/refusals/profiles.ts";
import type { ProfileName } from "../../../src/models/refusals/profiles.ts";
import { readRefusal } from "../../../src/models/refusals/refusal.ts";
import { tooLong } from "../../../src/models/refusals/too-long.ts";
import { plainRequest } from "../../support/servers/open-model.ts";

const error = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } });

test.each<[server: string, status: number, text: string, limit: number | null, counted: number | null]>([
  [
    "OpenAI",
    400,
    error(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9100 tokens (8100 in the messages, 1000 in the functions). Please reduce the length of the messages or functions.",
      { type: "invalid_request_error", param: "messages", code: "context_length_exceeded" },
    ),
    8192,
    9100,
  ],
  [
    "OpenAI, of newer models",
    400,
    error(
      "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
    ),
    272000,
    300000,
  ],
  [
    "OpenAI, without numbers",
    400,
    error("Your input exceeds the context window of this model. Please adjust your input and try again."),
    null,
    null,
  ],
  [
    "OpenAI, of one request above the tokens of a minute",
    429,
    error(
      "Request too large for gpt-4 in organization org-a on tokens per min (TPM): Limit 10000, Requested 12000. The input or output tokens must be reduced in order to run successfully.",
    ),
    10000,
    12000,
  ],
  [
    "vLLM",
    400,
    '{"object":"error","message":"This model\'s maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion). Please reduce the length of the messages or completion.","code":400}',
    4096,
    5000,
  ],
  [
    "a newer vLLM",
    400,
    error(
      "You passed 9000 input tokens and requested 512 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7680 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=9000)",
    ),
    7680,
    9000,
  ],
  [
    "vLLM's engine",
    400,
    error("The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
    8192,
    9000,
  ],
  [
    "llama.cpp",
    400,
    error("the request exceeds the available context size, try increasing it", {
      code: 400,
      type: "exceed_context_size_error",
      n_prompt_tokens: 9000,
      n_ctx: 4096,
    }),
    4096,
    9000,
  ],
  [
    "llama.cpp, in its sentence",
    400,
    error("request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"),
    8192,
    9000,
  ],
  ["Ollama", 400, '{"error":"the input length exceeds the context length"}', null, null],
  [
    "LM Studio",
    400,
    '{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}',
    4096,
    9000,
  ],
  [
    "Mistral",
    400,
    '{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","code":"3051"}',
    32768,
    40000,
  ],
  ["Anthropic", 400, error("prompt is too long: 210000 tokens > 200000 maximum"), 200000, 210000],
  [
    "Gemini",
    400,
    '[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]',
    1048576,
    1200000,
  ],
  [
    "Groq",
    400,
    error(
      "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    ),
    8192,
    9000,
  ],
  [
    "Groq, of one request above the tokens of a minute",
    413,
    error(
      "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
    ),
    6000,
    9000,
  ],
  [
    "OpenRouter",
    400,
    error(
      "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (8900 of text input, 100 of tool input).",
    ),
    8192,
    9000,
  ],
  [
    "xAI",
    400,
    '{"error":"This model\'s maximum prompt length is 131072 but the request contains 140000 tokens."}',
    131072,
    140000,
  ],
  [
    "Text Generation Inference",
    422,
    error(
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
    ),
    8193,
    9000,
  ],
  [
    "SGLang",
    400,
    error("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
    8192,
    9000,
  ],
  [
    "GitHub Models",
    413,
    error("Request body too large for gpt-4o model. Max size: 8000 tokens.", {
      code: "tokens_limit_reached",
    }),
    8000,
    null,
  ],
  ["Moonshot", 400, error("Invalid request: Your request exceeded model token limit: 8192"), 8192, null],
  ["Qwen", 400, error("Range of input length should be [1, 30720]"), 30720, null],
])("%s says that the input is too long", (_server, status, text, limit, counted) => {
  const said = tooLong(readRefusal(status, text), { body: null, profile: null });
  // A code is sure; a sentence only of a server that is known.
  const lasts = /"code":"context_length_exceeded"|"type":"exceed_context/.test(text);
  expect(said).toEqual({ limit, counted, lasts });
});

test("a sentence of the server's own row lasts, of a request above a minute's tokens it does not", () => {
  const said = (status: number, text: string, profile: ProfileName) =>
    tooLong(readRefusal(status, text), { body: null, profile: PROFILES[profile] });
  const ollama = '{"error":"the input length exceeds the context length"}';
  expect(said(400, ollama, "ollama")).toMatchObject({ lasts: true });
  expect(said(400, ollama, "groq")).toMatchObject({ lasts: false });
  const groq = error(
    "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.",
  );
  expect(said(413, groq, "groq")).toEqual({ limit: 6000, counted: 9000, lasts: false });
});

test.each<[what: string, status: number, text: string]>([
  ["too many requests", 429, error("Rate limit reached on tokens per min (TPM): Limit 10000, Used 9000")],
  ["a wrong key", 401, error("No", { code: "context_length_exceeded" })],
  ["a code that a text quotes", 400, error("You wrote context_length_exceeded")],
  ["a text of one message", 400, error("Invalid 'messages[0].content': string too long. Expected 1048576.")],
  ["an answer's length", 400, error("max_tokens is too large: 99999. This model supports at most 4096.")],
  ["an image", 400, error("messages.0.content.1.image: image exceeds 5 MB maximum")],
  ["nothing", 400, ""],
])("%s is no word of an input that is too long", (_what, status, text) => {
  for (const profile of [null, ...Object.values(PROFILES)])
    expect(tooLong(readRefusal(status, text), { body: null, profile })).toBeNull();
});

/** A turn of 100 tokens that cannot be left out, and of history as it fits. */
const turnOf = (tokens: number) => ({
  ...plainRequest,
  fit: (most: number) => ({
    messages: plainRequest.messages,
    tokens: Math.max(100, Math.min(tokens, most)),
  }),
});
const nothing = { limit: null, counted: null, lasts: true };

test.each<
  [what: string, sent: number, said: { limit: number | null; counted: number | null }, found: number]
>([
  ["half of what was sent, where no number is named", 1_000, nothing, 500],
  ["three quarters of the limit, with room for the answer", 9_000, { limit: 4_000, counted: null }, 3_000],
  ["half, where the estimate is below that", 2_000, { limit: 4_000, counted: null }, 1_000],
  ["that by the server's count of what was sent", 6_000, { limit: 4_000, counted: 12_000 }, 1_500],
  ["half, where the count is another number", 2_000, { limit: 4_000, counted: 99_999_999 }, 1_000],
  ["the question, which stays whole", 9_000, { limit: 80, counted: null }, 100],
])("an input that is too long is cut to %s", (_what, sent, said, found) => {
  const input = fitInput(turnOf(sent), null);
  expect(input.found()).toBeNull();
  expect(input.shorten({ ...said, lasts: true })).toBe(true);
  expect(input.found()).toBe(found);
});

test("it is cut three times at most, not where nothing more can be left out, and begins at the limit that is known", () => {
  const input = fitInput(turnOf(10_000), null);
  expect([1, 2, 3, 4].map(() => input.shorten(nothing))).toEqual([true, true, true, false]);
  expect(input.found()).toBe(1_250);
  expect(fitInput(turnOf(100), null).shorten(nothing)).toBe(false);
  expect(fitInput(plainRequest, null).shorten(nothing)).toBe(false);
  const known = fitInput(turnOf(10_000), 600);
  expect(known.shorten(nothing)).toBe(true);
  expect(known.found()).toBe(300);
});
