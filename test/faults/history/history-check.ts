import type { Message } from "../../../src/domain/threads/message.ts";
import { conversationFaults } from "../flaky/conversation-faults.ts";

/** One text that a client tried to append to a thread. */
export interface Append {
  text: string;
  sentAtMs: number;
  /** When its 200 came; null where none came: it may be in the history, or not. */
  ackedAtMs: number | null;
}

/** A part of the history, as a client read it meanwhile. */
export type Reading = readonly { id: string; content: string }[];

/**
 * The list-append check of one thread, once it has settled: what was acknowledged is there once (lost, doubled), nothing
 * is there that nobody wrote (phantom), what was acknowledged before another text was sent comes before it (reordered),
 * each message has its own reply, and what was read while all this went on is still so (rewritten).
 */
export function historyFaults(
  history: readonly Message[],
  appends: readonly Append[],
  readings: readonly Reading[],
): string[] {
  const acknowledged = appends.filter(({ ackedAtMs }) => ackedAtMs !== null).map(({ text }) => text);
  return [
    ...conversationFaults(history, {
      attempted: new Set(appends.map(({ text }) => text)),
      acknowledged: new Set(acknowledged),
    }),
    ...reordered(history, appends),
    ...readings.flatMap((reading) => rewritten(history, reading)),
  ];
}

function reordered(history: readonly Message[], appends: readonly Append[]): string[] {
  const byText = new Map(appends.map((append) => [append.text, append]));
  const faults: string[] = [];
  let latest: Append | null = null;
  for (const { role, content } of history) {
    const append = role === "user" ? byText.get(content) : undefined;
    if (!append) continue;
    if (latest && append.ackedAtMs !== null && append.ackedAtMs < latest.sentAtMs) {
      faults.push(`reordered: ${latest.text} stands before ${append.text}`);
    }
    if (!latest || append.sentAtMs > latest.sentAtMs) latest = append;
  }
  return faults;
}

function rewritten(history: readonly Message[], reading: Reading): string[] {
  return reading
    .filter(({ id, content }) => history[Number(id) - 1]?.content !== content)
    .map(({ id, content }) => `rewritten: message ${id} was ${content}`);
}
