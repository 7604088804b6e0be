import type { FittedInput, OfferedTool } from "../model.ts";
import { estimateTokens } from "./history-budget.ts";
import { buildPrompt, systemMessage } from "./prompt.ts";
import type { PromptInput } from "./prompt.ts";

/**
 * The prompt for a model that takes at most so many tokens, instructions and tools included. The question stays whole, so it
 * can be longer.
 */
export function fitPrompt(input: PromptInput, tools: readonly OfferedTool[], maxTokens: number): FittedInput {
  const toolTokens = tools.length === 0 ? 0 : Math.ceil(Buffer.byteLength(JSON.stringify(tools)) / 4);
  const left = maxTokens - toolTokens - estimateTokens([systemMessage(input)]);
  const messages = buildPrompt({ ...input, maxInputTokens: Math.min(input.maxInputTokens, left) });
  return { messages, tokens: toolTokens + estimateTokens(messages) };
}
