import { z } from "zod";
import type { HistorySummary } from "../../domain/threads/history-summary.ts";

/** The summary of the beginning of a long conversation, as operators see it. */
export const historySummaryView = z.object({
  messages: z.int().describe("How many messages it covers, from the first one on"),
  madeAt: z.int().describe("Unix time in milliseconds"),
  model: z.string().describe("PROVIDER/MODEL that wrote it"),
  tokens: z
    .object({ input: z.int(), output: z.int() })
    .nullable()
    .describe("What the thread's summaries have cost so far; null: the model's servers told nothing"),
  text: z.string().exactOptional().describe("Not for auditors"),
});

/** `seesText`: include the text. */
export function viewOfSummary(
  { text, upTo, atMs, model, usage }: HistorySummary,
  { seesText }: { seesText: boolean },
): z.infer<typeof historySummaryView> {
  return { messages: upTo, madeAt: atMs, model, tokens: usage, ...(seesText ? { text } : {}) };
}
