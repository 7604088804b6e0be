import type { Turn } from "../agent.ts";
import type { AgentSettings } from "../domain/channel.ts";
import type { ModelMessage, ModelTurn } from "../model.ts";
import { estimateTokens } from "./history-budget.ts";

/** What users have used on the present UTC day. Asked and told only on channels with a daily cap. */
export interface Spending {
  spent(slug: string, userId: string): Promise<number>;
  spend(slug: string, userId: string, tokens: number): Promise<void>;
}

export const RUN_BUDGET_SPENT = "This answer has reached the length that is set for one answer here.";
export const DAY_BUDGET_SPENT = "You have reached today's limit of this chat. Please come back tomorrow.";

/** Output tokens that the run may still use: 0 or less when they are spent; null where the channel sets no cap. */
export function outputLeft(settings: AgentSettings, { run, usage }: Turn): number | null {
  if (settings.maxOutputTokensPerRun === undefined) return null;
  const used = usage?.output ?? estimateTokens(run.turns.flatMap(asOutput));
  return settings.maxOutputTokensPerRun - used;
}

function asOutput(item: Turn["run"]["turns"][number]): ModelMessage[] {
  if (item.type === "result") return [];
  const calls = item.calls.map((call) => ({ ...call, name: call.offeredName }));
  return [{ role: "assistant", content: item.text, calls }];
}

/** What a turn cost; estimated where the model server told no usage, or a daily cap would not bind there. */
export function tokensOf(prompt: readonly ModelMessage[], { text, calls, usage }: ModelTurn): number {
  if (usage) return usage.input + usage.output;
  return estimateTokens([...prompt, { role: "assistant", content: text, calls }]);
}
