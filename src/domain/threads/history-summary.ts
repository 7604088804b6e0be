import type { Usage } from "../../../machines/run.ts";
import type { Message } from "./message.ts";

/**
 * What a long conversation's oldest messages said, in short: it comes before the messages that the model is still sent, and
 * is shown to no visitor. A thread has one, which the next one replaces.
 */
export interface HistorySummary {
  text: string;
  /** The number of the last message that it covers: it covers all up to that one. */
  upTo: number;
  atMs: number;
  /** PROVIDER/MODEL that wrote it. */
  model: string;
  /** What this one and those before it cost together; null: the model servers told no figures. */
  usage: Usage | null;
}

/** Stored as a part (kept-text.ts) of a run id that no run has, so that it is sealed, moved and deleted with the thread's parts. */
export const HISTORY_SUMMARY = "~history-summary";

/** The messages that a summary does not cover. */
export function withoutSummarized<Messages extends readonly Message[]>(
  messages: Messages,
  summary: HistorySummary | null,
): Messages | Message[] {
  return summary === null ? messages : messages.filter(({ id }) => Number(id) > summary.upTo);
}
