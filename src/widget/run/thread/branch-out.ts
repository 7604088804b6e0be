import { addBrancher } from "../../view/message/brancher.ts";
import type { ShownMessage } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { isBefore } from "../messages/with-item.ts";
import { newMessage } from "../messages/outgoing-message.ts";
import type { TabRun } from "../tab/tab-run.ts";

/** Lets the visitor say a message otherwise, and have a reply made anew, while nothing is under way. */
export function branchOut(
  { view, host }: ConversationDependencies,
  { run, refresh }: { run: Pick<TabRun, "send">; refresh: () => Promise<void> },
): void {
  const isShown = (message: ShownMessage) => view.message(message.key)?.id === message.id;

  /** The message that this is the reply to. */
  function askedBy(message: ShownMessage): ShownMessage | undefined {
    const { messages } = view.state;
    const before = messages[messages.findIndex(({ key }) => key === message.key) - 1];
    return before?.role === "user" && before.id !== null ? before : undefined;
  }

  /** `isRepeat`: no new message is told to the page. */
  async function begin(message: ReturnType<typeof newMessage>, isRepeat: boolean): Promise<void> {
    // Another tab has it, or the service knows another branch by now: what is true is shown.
    if (!(await run.send(message, isRepeat))) await refresh();
  }

  addBrancher({
    has: (message) => message.id !== null && isShown(message),
    mayAnswerAgain: (message) => askedBy(message) !== undefined,

    async answerAgain(message) {
      const asked = askedBy(message);
      if (view.isRunning || !asked || message.id === null) return;
      const again = { ...newMessage("", host.customerContext()), messageId: message.id };
      cutBefore(message.id);
      // The reply comes behind the message that has its id.
      view.edit(asked.key, (one) => ({ ...one, clientMessageId: again.clientMessageId }));
      await begin(again, true);
    },

    async replace(message, text) {
      if (view.isRunning || message.id === null) return;
      cutBefore(message.id);
      const said = newMessage(text, host.customerContext(), message);
      await begin({ ...said, replaces: message.id }, false);
    },
  });

  function cutBefore(id: string): void {
    view.change({ messages: leftBy(id, null, view.state.messages) });
  }
}

/**
 * The messages without the items from `replaces` on, up to the one that began the branch; null: it is not there yet, and what
 * comes after it goes, too.
 */
export function leftBy(
  replaces: string,
  by: string | null,
  messages: readonly ShownMessage[],
): ShownMessage[] {
  const isLeft = ({ id }: ShownMessage) =>
    id === null ? by !== null : isBefore(id, replaces) || (by !== null && !isBefore(id, by));
  return messages.filter(isLeft);
}
