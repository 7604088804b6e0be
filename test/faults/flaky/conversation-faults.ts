import type { Message } from "../../../src/domain/threads/message.ts";
import { replyTo } from "../victims/echo-model.ts";

/**
 * What is wrong with a settled thread, seen from those who wrote to it; empty where all is well. Each text is unique,
 * and its reply follows from it, so that a message that is lost, doubled or mixed up with another shows.
 */
export function conversationFaults(
  history: readonly Message[],
  told: { attempted: ReadonlySet<string>; acknowledged: ReadonlySet<string> },
): string[] {
  const faults = textFaults(
    history.filter(({ role }) => role === "user"),
    told,
  );
  for (const [index, message] of history.entries()) {
    const before = history[index - 1];
    if (message.role === (before?.role ?? "assistant")) {
      faults.push(`out of turn: message ${message.id}, ${message.role} after ${String(before?.role)}`);
    } else if (message.role === "assistant" && before) {
      if (message.runId !== before.runId) faults.push(`a reply of another run: message ${message.id}`);
      if (message.outcome === "done" && message.content !== replyTo(before.content)) {
        faults.push(`a wrong reply to ${before.content}: ${message.content}`);
      }
    }
  }
  return faults;
}

/** What of these texts is lost, doubled or made up. */
export function textFaults(
  messages: readonly Message[],
  told: { attempted: ReadonlySet<string>; acknowledged: ReadonlySet<string> },
): string[] {
  const faults: string[] = [];
  const texts = messages.map(({ content }) => content);
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const text of told.acknowledged) if (!counts.has(text)) faults.push(`lost: ${text}`);
  for (const [text, count] of counts) {
    if (count > 1) faults.push(`doubled: ${text}`);
    if (!told.attempted.has(text)) faults.push(`phantom: ${text}`);
  }
  return faults;
}
