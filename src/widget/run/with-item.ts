import type { ShownMessage } from "../view/view-state.ts";

/**
 * The messages shown, and an item of the history that has come: each once, in the order of the history.
 *
 * What this page has said, and what it saw as it was written, is shown before it has an id. The item of such a message
 * takes its place: a message of the visitor is known by its clientMessageId, a reply by where it stands, as the history
 * has each reply behind its message. What never gets an id (a run that ended without a word) stays where it is.
 */
export function withItem(messages: readonly ShownMessage[], item: ShownMessage): ShownMessage[] {
  if (messages.some(({ id }) => id === item.id)) return [...messages];
  const own = messages.find((shown) => isSameSaid(shown, item));
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

/** Ids count up from 1. */
export function isBefore(id: string, other: string | null): boolean {
  return Number(id) < Number(other);
}

/** The id of the last item of the history among them; "": there is none. */
export function lastIdOf(messages: readonly ShownMessage[]): string {
  return messages.findLast(({ id }) => id !== null)?.id ?? "";
}

function isSameSaid(shown: ShownMessage, { clientMessageId }: ShownMessage): boolean {
  return clientMessageId !== null && shown.clientMessageId === clientMessageId;
}

/** As the history has it, in its place on the page. What the page found wrong with a run, the history does not know. */
function adopted({ key, isCutOff, problem }: ShownMessage, item: ShownMessage): ShownMessage {
  const isOver = problem?.retry === "attach" || problem?.retry === "resend";
  return { ...item, key, isCutOff, problem: isOver ? item.problem : (problem ?? item.problem) };
}
