import type { KnownHistory } from "../../agent.ts";
import type { HistorySettings } from "../../domain/channels/channel.ts";
import { contentChars } from "../../domain/threads/message.ts";
import type { Message } from "../../domain/threads/message.ts";
import { withoutSummarized } from "../../domain/threads/history-summary.ts";
import { MESSAGE_TOKENS } from "./history-budget.ts";

/** Characters of earlier messages that a model is sent, where `agent.history` says nothing else. */
const MAX_CHARS = 160_000;

/** `history.maxChars`; Infinity: the channel has no such limit. */
export function maxCharsOf(history: HistorySettings | undefined): number {
  return history === undefined ? Infinity : (history.maxChars ?? MAX_CHARS);
}

/**
 * The number of the last message to summarise now; null: what is left of the history fits. It fits if it has at most
 * `maxChars` characters and, by the estimate, `maxTokens` tokens. Else the newest half of that stays, from a visitor's message on:
 * so the next summary is due only when as much has been said again. The last question and what followed it always stay.
 */
export function summarizesTo(
  { summary, tail }: KnownHistory,
  { maxChars, maxTokens }: { maxChars: number; maxTokens: number },
): number | null {
  const left = withoutSummarized(tail, summary);
  const first = Number(left[0]?.id ?? 0);
  // Older ones were not read: they are more than a model can be sent.
  const isCut = first > (summary?.upTo ?? 0) + 1;
  if (!isCut && startOfNewest(left, maxChars, maxTokens) === 0) return null;
  const start = questionFrom(left, startOfNewest(left, maxChars / 2, maxTokens / 2));
  const to = start === 0 ? first - 1 : Number(left[start - 1]?.id);
  return to > (summary?.upTo ?? 0) ? to : null;
}

/** The index of the first question from there on; there is none: of the last one. */
function questionFrom(messages: readonly Message[], from: number): number {
  const next = messages.findIndex(({ role }, index) => index >= from && role === "user");
  return next === -1
    ? Math.max(
        messages.findLastIndex(({ role }) => role === "user"),
        0,
      )
    : next;
}

/** The index of the first of the newest messages that fit, at least one. */
function startOfNewest(messages: readonly Message[], chars: number, tokens: number): number {
  let [charsLeft, tokensLeft] = [chars, tokens];
  for (let start = messages.length; start > 0; start -= 1) {
    const size = messages[start - 1];
    if (!size) return start;
    charsLeft -= charsOf(size);
    tokensLeft -= tokensOf(size);
    if ((charsLeft < 0 || tokensLeft < 0) && start < messages.length) return start;
  }
  return 0;
}

function charsOf(message: Message): number {
  return contentChars(message) + callTexts(message).reduce((sum, text) => sum + text.length, 0);
}

function tokensOf(message: Message): number {
  const bytes = callTexts(message).reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    Buffer.byteLength(message.content) + (message.kept?.chars ?? 0),
  );
  return MESSAGE_TOKENS + Math.ceil(bytes / 4);
}

function callTexts({ calls = [] }: Message): string[] {
  return calls.flatMap(({ arguments: args, result }) => [args, result ?? ""]);
}
