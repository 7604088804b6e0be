import type { ShownMessage } from "../../view/view-state.ts";

/**
 * Adds an item of the history to the messages shown: each once, in the order of the history.
 *
 * A message sent from this page, or a reply streamed to it, is shown before it has an id. Its item then takes its place:
 * a visitor's message is found by its clientMessageId, a reply by its position, because the history has each reply
 * behind its message. A message that never gets an id (of a run that ended without text) stays where it is.
 */
export function withItem(messages: readonly ShownMessage[], item: ShownMessage): ShownMessage[] {
  const own = messages.find((shown) => isSame(shown, item));
  if (own !== undefined) return messages.map((shown) => (shown === own ? adopted(own, item) : shown));

  let at = messages.findLastIndex(({ id }) => id !== null && isBefore(id, item.id)) + 1;
  const next = messages[at];
  if (item.role === "assistant") {
    const isItsReply = next?.role === "assistant" && next.id === null;
    return isItsReply ? messages.with(at, adopted(next, item)) : messages.toSpliced(at, 0, item);
  }
  while (messages[at]?.role === "assistant" && messages[at]?.id === null) at += 1;
  return messages.toSpliced(at, 0, item);
}

/**
 * The newest page of the history, plus what this page has shown since it was requested: newer items, a message that is
 * being sent, and an unfinished reply. If the history has these two by now, they take the place of their items.
 */
export function withLater(history: readonly ShownMessage[], later: readonly ShownMessage[]): ShownMessage[] {
  const messages = [...history];
  let own = -1;
  for (const shown of later) {
    let at = messages.findIndex((item) => isSame(shown, item));
    let isKnown = at >= 0;
    if (shown.role === "assistant" && own >= 0) {
      // A reply comes right behind its message.
      at = own + 1;
      isKnown = messages[at]?.role === "assistant";
    } else if (!isKnown) {
      // Unsent messages stay below newer items.
      at = shown.id === null ? messages.length : afterItems(messages);
    }
    const item = messages[at];
    messages.splice(at, isKnown ? 1 : 0, isKnown && item !== undefined ? adopted(shown, item) : shown);
    own = shown.role === "user" ? at : -1;
  }
  return messages;
}

/** Behind the last item, and its unfinished reply. */
function afterItems(messages: readonly ShownMessage[]): number {
  return messages.findLastIndex(({ id, role }) => id !== null || role === "assistant") + 1;
}

/** Ids count up from 1. */
export function isBefore(id: string, other: string | null): boolean {
  return Number(id) < Number(other);
}

/** The id of the last item of the history among them; "": there is none. */
export function lastIdOf(messages: readonly ShownMessage[]): string {
  return messages.findLast(({ id }) => id !== null)?.id ?? "";
}

function isSame(shown: ShownMessage, { id, clientMessageId }: ShownMessage): boolean {
  if (shown.id !== null) return shown.id === id;
  return clientMessageId !== null && shown.clientMessageId === clientMessageId;
}

/** The history's version, in its place on the page. Problems that only the page noticed are kept. */
function adopted({ key, isCutOff, problem }: ShownMessage, item: ShownMessage): ShownMessage {
  const isOver = problem?.retry === "attach" || problem?.retry === "resend";
  return { ...item, key, isCutOff, problem: isOver ? item.problem : (problem ?? item.problem) };
}
