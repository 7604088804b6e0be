/**
 * The finish reasons of servers, in lower case. Sources: OpenAI and Azure
 * (https://platform.openai.com/docs/api-reference/chat/object), Gemini, whose door for OpenAI's clients passes its own
 * on (https://ai.google.dev/api/generate-content#FinishReason, https://github.com/HKUDS/Vibe-Trading/pull/308), Anthropic
 * (https://platform.claude.com/docs/en/api/handling-stop-reasons), Bedrock
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html), OpenRouter
 * (https://openrouter.ai/docs/api/reference/errors-and-debugging), DeepSeek
 * (https://api-docs.deepseek.com/api/create-chat-completion), GLM (https://docs.z.ai/api-reference/llm/chat-completion).
 */

/** How a turn ended, by the word of its server. */
export type End = "whole" | "cut" | "withheld" | "malformed" | "failed" | "unknown";

const ENDS: ReadonlyMap<string, End> = new Map([
  ...["stop", "tool_calls", "function_call", "end_turn", "tool_use", "stop_sequence", "eos", "eos_token"].map(
    (name) => [name, "whole"] as const,
  ),
  ...["length", "max_tokens", "model_length", "model_context_window_exceeded", "repetition_truncation"].map(
    (name) => [name, "cut"] as const,
  ),
  ...[
    "content_filter",
    "content_filtered",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "language",
    "image_safety",
    "image_prohibited_content",
    "image_recitation",
    "refusal",
    "guardrail_intervened",
    "sensitive",
  ].map((name) => [name, "withheld"] as const),
  ...[
    "malformed_function_call",
    "malformed_tool_use",
    "malformed_model_output",
    "unexpected_tool_call",
    "too_many_tool_calls",
    "missing_thought_signature",
    "malformed_response",
  ].map((name) => [name, "malformed"] as const),
  ...["error", "insufficient_system_resource", "network_error", "abort", "cancelled", "other"].map(
    (name) => [name, "failed"] as const,
  ),
]);

/** A reason that is on no list, and names an error: Portkey's `overloaded_error` (https://github.com/Portkey-AI/gateway). */
const NAMES_ERROR =
  /(^|_)(error|errors|fail|failed|failure|timeout|timed_out|overloaded|unavailable|exception)(_|$)/;
/** Gemini's door for OpenAI's clients has both in one: `content_filter: SAFETY`, `function_call_filter: MALFORMED_FUNCTION_CALL`. */
const PREFIXED = /^(?:content_filter|function_call_filter): */;

/** What a finish reason means. */
export function endOf(finishReason: string): End {
  const name = finishReason.toLowerCase().replace(PREFIXED, "").trim();
  const known = ENDS.get(name);
  if (known !== undefined) return known;
  if (/^content_filter/i.test(finishReason)) return "withheld";
  if (/^function_call_filter/i.test(finishReason)) return "malformed";
  return NAMES_ERROR.test(name.replaceAll(/[\s-]/g, "_")) ? "failed" : "unknown";
}

/** Does the server say by it that the answer failed, or that the model wrote a call that nobody can read? Worth another try. */
export function isFailedEnd(finishReason: string): boolean {
  const end = endOf(finishReason);
  return end === "failed" || end === "malformed";
}

const API_ENDS: ReadonlySet<string> = new Set(["stop", "tool_calls", "function_call", "end_turn", "eos"]);

/** The API's own word, for those that callers know: `stop`, `length`, `content_filter`; others as they are. */
export function apiEnd(finishReason: string | null): string | null {
  if (finishReason === null) return null;
  switch (endOf(finishReason)) {
    case "withheld":
      return "content_filter";
    case "cut":
      return "length";
    case "whole":
      return API_ENDS.has(finishReason) ? finishReason : "stop";
    case "malformed":
    case "failed":
    case "unknown":
      return finishReason;
  }
}
