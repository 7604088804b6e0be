import type { FittedInput, OfferedTool } from "../model.ts";
import { estimateTokens, estimateTools } from "./history/history-budget.ts";
import { buildPrompt, systemMessage } from "./prompt.ts";
import type { PromptInput } from "./prompt.ts";

/**
 * The prompt for a model that takes at most so many tokens, instructions and tools included. The question stays whole, so it
 * can be longer.
 */
export function fitPrompt(input: PromptInput, tools: readonly OfferedTool[], maxTokens: number): FittedInput {
  const toolTokens = estimateTools(tools);
  const left = maxTokens - toolTokens - estimateTokens([systemMessage(input)]);
  const messages = buildPrompt({ ...input, maxInputTokens: Math.min(input.maxInputTokens, left) });
  return { messages, tokens: toolTokens + estimateTokens(messages) };
}
