import type { Config } from "../config.ts";
import type { ThreadLimits } from "./dependencies.ts";

/** A token is 3 to 4 characters of most languages: so much history is enough to choose the newest of. */
const CHARS_PER_TOKEN = 5;

/** The limits of threads, as the settings have them. */
export function threadLimitsOf(config: Config): ThreadLimits {
  const { runTimeoutMs, runMaxToolCalls, toolResultTimeoutMs, runMaxReplyChars, threadQueueMax } = config;
  const historyBudgetChars = config.agentMaxInputTokens * CHARS_PER_TOKEN;
  return {
    runTimeoutMs,
    runMaxToolCalls,
    toolResultTimeoutMs,
    runMaxReplyChars,
    threadQueueMax,
    historyBudgetChars,
  };
}
