/**
 * How an answer ended. Servers have more words for it than the API, which has `stop`, `length`, `tool_calls`,
 * `function_call` and `content_filter`. A known word becomes the API's, so that everything above this folder knows five
 * of them; an unknown one stays as it is. Letters' case does not matter.
 */
export interface End {
  /** A word of the API, or one that nobody knows. */
  reason: string;
  /** The server failed, or could not read the call that the model wrote: what came before is no whole answer. */
  hasFailed: boolean;
}

const [FAILED, MALFORMED] = ["error", "malformed"] as const;

/** The words by what they mean, each group with its sources. */
const KNOWN_ENDS = new Map<string, string>([
  // OpenAI: https://platform.openai.com/docs/api-reference/chat-streaming/streaming
  ...mean("stop", ["stop"]),
  ...mean("length", ["length"]),
  ...mean("tool_calls", ["tool_calls"]),
  ...mean("function_call", ["function_call"]),
  ...mean("content_filter", ["content_filter"]),
  // Anthropic's words, which gateways pass on: https://docs.anthropic.com/en/api/handling-stop-reasons
  ...mean("stop", ["end_turn", "stop_sequence"]),
  ...mean("length", ["max_tokens", "model_context_window_exceeded"]),
  ...mean("tool_calls", ["tool_use"]),
  ...mean("content_filter", ["refusal"]),
  // Gemini's words, likewise: https://ai.google.dev/api/generate-content#FinishReason
  ...mean("content_filter", [
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "image_safety",
    "image_prohibited_content",
    "image_recitation",
  ]),
  ...mean(MALFORMED, [
    "malformed_function_call",
    "unexpected_tool_call",
    "too_many_tool_calls",
    "missing_thought_signature",
    "malformed_response",
  ]),
  // Bedrock: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
  ...mean("content_filter", ["content_filtered", "guardrail_intervened"]),
  ...mean(MALFORMED, ["malformed_tool_use", "malformed_model_output"]),
  // Together, Hugging Face TGI, Cohere: https://docs.together.ai/reference/chat-completions-1
  ...mean("stop", ["eos", "eos_token", "complete"]),
  // Mistral: https://docs.mistral.ai/api/#tag/chat
  ...mean("length", ["model_length"]),
  ...mean(FAILED, ["error"]),
  // DeepSeek: https://api-docs.deepseek.com/api/create-chat-completion
  ...mean(FAILED, ["insufficient_system_resource"]),
  // GLM: https://docs.bigmodel.cn/api-reference
  ...mean("content_filter", ["sensitive"]),
  ...mean(FAILED, ["network_error"]),
  // vLLM and SGLang: the server gave the request up (vllm/v1/engine/__init__.py, FinishReason)
  ...mean(FAILED, ["abort"]),
]);

function mean(reason: string, words: readonly string[]): [string, string][] {
  return words.map((word) => [word, reason]);
}

/**
 * Gemini's door for OpenAI's clients puts its own word behind one of these (https://ai.google.dev/gemini-api/docs/openai):
 * `content_filter: PROHIBITED_CONTENT`, `function_call_filter: MALFORMED_FUNCTION_CALL`.
 */
const FILTERS = new Map([
  ["content_filter", "content_filter"],
  ["function_call_filter", MALFORMED],
]);

/**
 * Gateways put the type of an error where the reason belongs: `overloaded_error`, `rate_limit_exceeded`, `timeout`. A word
 * that is no part of such a name says nothing: the answer is then as the server says, ended.
 */
const ERROR_NAME =
  /error|fail|exception|overload|time[_-]?d?[_-]?out|unavailable|rate[_-]?limit|quota|insufficient|abort|cancel|interrupt|disconnect|malformed/i;

/** A name of an error is one word. Anything else is a text, and no text decides. */
const NAME = /^[\w.:-]{1,64}$/;

/** Reads a finish_reason. */
export function readEnd(written: string): End {
  const known = knownEnd(written);
  if (known === MALFORMED || known === FAILED) return { reason: FAILED, hasFailed: true };
  if (known !== undefined) return { reason: known, hasFailed: false };
  return { reason: written, hasFailed: NAME.test(written) && ERROR_NAME.test(written) };
}

/** The server could not read the call that the model wrote: it is about this answer alone, and another try may be better. */
export function isMalformedEnd(written: string): boolean {
  return knownEnd(written) === MALFORMED;
}

function knownEnd(written: string): string | undefined {
  const word = written.toLowerCase();
  const [filter = "", ownWord] = word.split(":", 2);
  return KNOWN_ENDS.get(ownWord?.trim() ?? word) ?? (ownWord === undefined ? undefined : FILTERS.get(filter));
}
