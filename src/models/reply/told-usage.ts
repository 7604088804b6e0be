import type { Usage } from "../../../machines/run.ts";
import { isRecord } from "../../is-record.ts";

type Fields = Record<string, unknown>;

/** The names of both counts: the API's, those of its responses and of Anthropic, of Gemini, of Ollama. */
const NAMES = [
  ["prompt_tokens", "completion_tokens"],
  ["input_tokens", "output_tokens"],
  ["promptTokenCount", "candidatesTokenCount"],
  ["prompt_eval_count", "eval_count"],
] as const;

/**
 * The usage that a chunk tells, in `usage` or where other servers have it; null: none, or one that makes no sense. The
 * message is a delta, or what a server has in its place. Called for every chunk, of which nearly all tell none.
 */
export function toldUsage(chunk: Fields, choice: Fields | null, message: Fields | null): Usage | null {
  return (
    readUsage(chunk["usage"]) ??
    // Groq, where no usage was asked for: https://console.groq.com/docs/api-reference#chat-create
    readUsage(fieldsIn(chunk["x_groq"])?.["usage"]) ??
    // Moonshot, in the last choice: https://platform.moonshot.ai/docs/api/chat
    readUsage(choice?.["usage"]) ??
    // Gateways that wrap a message of Anthropic's: https://docs.anthropic.com/en/api/messages-streaming
    readUsage(message?.["usage"]) ??
    // Gateways that pass Gemini's on: https://ai.google.dev/api/generate-content#UsageMetadata
    readUsage(chunk["usageMetadata"]) ??
    // Ollama's own form, at the top: https://github.com/ollama/ollama/blob/main/docs/api.md
    (chunk["eval_count"] === undefined ? null : readUsage(chunk))
  );
}

function fieldsIn(value: unknown): Fields | null {
  return isRecord(value) ? value : null;
}

/**
 * What is known after another count was told: the larger of each. Some servers count up with every chunk, others begin
 * with the input or end with zeros.
 */
export function largerUsage(known: Usage | null, told: Usage): Usage {
  if (known === null) return told;
  return { input: Math.max(known.input, told.input), output: Math.max(known.output, told.output) };
}

function readUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  for (const [ofInput, ofOutput] of NAMES) {
    const [input, output] = [countOf(value[ofInput]), countOf(value[ofOutput])];
    if (input !== null && output !== null) return { input, output };
  }
  return null;
}

/** A whole number, perhaps as text. */
function countOf(value: unknown): number | null {
  const count = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
