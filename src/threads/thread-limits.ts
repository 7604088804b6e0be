import type { Config } from "../config.ts";
import type { ThreadLimits } from "./dependencies.ts";

/** A token is 3 to 4 characters in most languages: at 5, enough history is read to fill the model's budget. */
const CHARS_PER_TOKEN = 5;

/** The limits of threads, as the settings have them. */
export function threadLimitsOf(config: Config): ThreadLimits {
  const { runTimeoutMs, runMaxToolCalls, toolResultTimeoutMs, runMaxReplyChars, threadQueueMax } = config;
  const historyBudgetChars = historyCharsOf(config);
  return {
    runTimeoutMs,
    runMaxToolCalls,
    toolResultTimeoutMs,
    runMaxReplyChars,
    threadQueueMax,
    historyBudgetChars,
  };
}

/** How much history is read for the model, in characters. */
export function historyCharsOf({ agentMaxInputTokens }: Pick<Config, "agentMaxInputTokens">): number {
  return agentMaxInputTokens * CHARS_PER_TOKEN;
}
