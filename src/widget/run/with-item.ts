import type { ShownMessage } from "../view/view-state.ts";

/**
 * The messages shown, and an item of the history that has come: each once, in the order of the history.
 *
 * What this page has said, and what it saw as it was written, is shown before it has an id. The item of such a message
 * takes its place: a message of the visitor is known by its clientMessageId, a reply by where it stands, as the history
 * has each reply behind its message. What never gets an id (a run that ended without a word) stays where it is.
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
 * The newest page of the history, and what this page has shown since it was asked for: newer items, a message that is
 * being sent, and a reply that is on its way. Where the history has those two by now, they get the place of their items.
 */
export function withLater(history: readonly ShownMessage[], later: readonly ShownMessage[]): ShownMessage[] {
  const messages = [...history];
  let own = -1;
  for (const shown of later) {
    let at = messages.findIndex((item) => isSame(shown, item));
    let isKnown = at >= 0;
    if (shown.role === "assistant" && own >= 0) {
      // It stands behind its message.
      at = own + 1;
      isKnown = messages[at]?.role === "assistant";
    } else if (!isKnown) {
      // What was not sent stays below what is newer.
      at = shown.id === null ? messages.length : afterItems(messages);
    }
    const item = messages[at];
    messages.splice(at, isKnown ? 1 : 0, isKnown && item !== undefined ? adopted(shown, item) : shown);
    own = shown.role === "user" ? at : -1;
  }
  return messages;
}

/** Behind the last item, and the reply to it that is on its way. */
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

/** As the history has it, in its place on the page. What the page found wrong with a run, the history does not know. */
function adopted({ key, isCutOff, problem }: ShownMessage, item: ShownMessage): ShownMessage {
  const isOver = problem?.retry === "attach" || problem?.retry === "resend";
  return { ...item, key, isCutOff, problem: isOver ? item.problem : (problem ?? item.problem) };
}
