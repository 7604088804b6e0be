import type { Turn } from "../agent.ts";
import type { AgentSettings } from "../domain/channel.ts";
import type { ModelMessage, ModelTurn } from "../model.ts";
import type { PlainLog } from "../log.ts";
import { estimateTokens } from "./history-budget.ts";

/** The tokens that users have used on the present UTC day. Used only on channels with a daily cap. */
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

export interface DailyBudget {
  isSpent(settings: AgentSettings, turn: Turn): Promise<boolean>;
  /** Counts a turn that was made. */
  spend(
    settings: AgentSettings,
    turn: Turn,
    made: { prompt: readonly ModelMessage[]; answer: ModelTurn },
  ): Promise<void>;
}

/** The daily cap of a channel's users. Without `spending` there is none. */
export function createDailyBudget({
  spending,
  log,
}: {
  spending?: Spending;
  log: Pick<PlainLog, "warn">;
}): DailyBudget {
  return {
    async isSpent({ maxTokensPerUserPerDay }, { slug, run }) {
      if (maxTokensPerUserPerDay === undefined || !spending) return false;
      return (await spending.spent(slug, run.userId)) >= maxTokensPerUserPerDay;
    },

    async spend({ maxTokensPerUserPerDay }, { slug, run }, { prompt, answer }) {
      if (maxTokensPerUserPerDay === undefined || !spending) return;
      try {
        await spending.spend(slug, run.userId, tokensOf(prompt, answer));
      } catch (error) {
        // The turn was paid for and its answer is here: it is not thrown away over the bookkeeping.
        log.warn({ err: error, slug }, "cannot note the tokens that a user spent");
      }
    },
  };
}

/** What a turn cost; estimated if the model server reported no usage, or the cap would not bind there. */
function tokensOf(prompt: readonly ModelMessage[], { text, calls, usage }: ModelTurn): number {
  if (usage) return usage.input + usage.output;
  return estimateTokens([...prompt, { role: "assistant", content: text, calls }]);
}
