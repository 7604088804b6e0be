import type { Attributes } from "@opentelemetry/api";
import { ATTR_GEN_AI_RESPONSE_FINISH_REASONS } from "@opentelemetry/semantic-conventions/incubating";

/**
 * The known finish reasons: OpenAI's first, then those of others. Only these are passed on: a server may write anything
 * there, even a part of the conversation.
 */
const KNOWN: ReadonlySet<string> = new Set([
  "stop",
  "length",
  "tool_calls",
  "content_filter",
  "function_call",
  "end_turn",
  "eos",
  "error",
  "abort",
  "model_length",
  "insufficient_system_resource",
]);

/** The semantic conventions' name for an error of unknown type. */
const OTHER = "_OTHER";

export function finishReasons(reason: string | null): Attributes {
  if (reason === null) return {};
  return { [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: [KNOWN.has(reason) ? reason : OTHER] };
}
