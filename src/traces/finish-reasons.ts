import type { Attributes } from "@opentelemetry/api";
import { ATTR_GEN_AI_RESPONSE_FINISH_REASONS } from "@opentelemetry/semantic-conventions/incubating";

/**
 * Why a model ended, where its server says so in a word that is known: OpenAI's own first, then those of others. The server may
 * write anything there, a part of the conversation too.
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

/** As the semantic conventions call an error of no known type. */
const OTHER = "_OTHER";

export function finishReasons(reason: string | null): Attributes {
  if (reason === null) return {};
  return { [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: [KNOWN.has(reason) ? reason : OTHER] };
}
