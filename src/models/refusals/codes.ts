import type { Meaning } from "./sentences.ts";

/**
 * Codes and types of refusals, in lower case, whose meaning is fixed by their servers. Unlike a sentence a code is never
 * somebody's words. Sources: OpenAI and Azure (https://platform.openai.com/docs/guides/error-codes,
 * https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter), llama.cpp
 * (https://github.com/ggml-org/llama.cpp/tree/master/tools/server), OpenRouter
 * (https://openrouter.ai/docs/api/reference/errors-and-debugging), GitHub Models, Groq
 * (https://github.com/groq/groq-typescript/issues/103, https://console.groq.com/docs/deprecations), Mistral
 * (https://github.com/zed-industries/zed/issues/37021), Google (https://cloud.google.com/apis/design/errors), Alibaba
 * (https://www.alibabacloud.com/help/en/model-studio/error-code).
 */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  context_length_exceeded: "tooLong",
  exceed_context_size_error: "tooLong",
  max_prompt_tokens_exceeded: "tooLong",
  token_limit_exceeded: "tooLong",
  tokens_limit_reached: "tooLong",
  content_filter: "withheld",
  content_policy_violation: "withheld",
  responsibleaipolicyviolation: "withheld",
  invalid_prompt: "withheld",
  data_inspection_failed: "withheld",
  datainspectionfailed: "withheld",
  prompt_blocked: "withheld",
  api_key_invalid: "keyRefused",
  invalid_api_key: "keyRefused",
  model_not_found: "gone",
  model_not_available: "gone",
  model_decommissioned: "gone",
  model_deprecated: "gone",
  model_terminated: "gone",
  deploymentnotfound: "gone",
  tool_use_failed: "again",
  output_parse_failed: "again",
  invalid_request_message_order: "roleOrder",
};

/** What the codes of a refusal mean; null: none of them is known. */
export function meaningOf(codes: readonly string[]): Meaning | null {
  for (const code of codes) if (Object.hasOwn(MEANINGS, code)) return MEANINGS[code] ?? null;
  return null;
}

/** The kinds of places (refusal.ts) that say that a field is unknown, that its value is not taken, that it is missing or of a wrong type. */
export const UNKNOWN_FIELD: ReadonlySet<string> = new Set([
  "unsupported_parameter",
  "unknown_parameter",
  "unrecognized_parameter",
  "unsupported_field",
  "unknown_field",
  "extra_forbidden",
  "value_error.extra",
]);
export const UNSUPPORTED_VALUE: ReadonlySet<string> = new Set(["unsupported_value"]);
export const MISSING_FIELD: ReadonlySet<string> = new Set([
  "missing",
  "missing_required_parameter",
  "value_error.missing",
]);
export const WRONG_TYPE: ReadonlySet<string> = new Set([
  "invalid_type",
  "string_type",
  "dict_type",
  "list_type",
  "type_error",
  "type_error.str",
  "type_error.dict",
  "type_error.none.not_allowed",
]);
