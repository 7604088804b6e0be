import type { ShownMessage } from "../view/view-state.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import { newMessage } from "./messages/outgoing-message.ts";
import type { OutgoingMessage } from "./messages/outgoing-message.ts";
import { unsentMessages } from "./messages/unsent-messages.ts";

/** What a conversation can do about a failure. */
export interface RetryActions {
  /** What failed is given up. */
  solved(this: void): void;
  send(this: void, message: OutgoingMessage, isRepeat: boolean): Promise<void>;
  /** Continues the run that this tab saved; resolves to false if there is none. */
  resume(this: void): Promise<boolean>;
  /** Follows the thread's active or last run, without running its tools. */
  listen(this: void): Promise<void>;
  start(this: void): Promise<void>;
}

type RetryDependencies = Pick<ConversationDependencies, "view" | "host" | "sharedStorage">;

/** Repeats what failed: the message with this key, or the last one. A second press finds an active run. */
export async function retry(
  dependencies: RetryDependencies,
  key: string | null,
  { solved, send, resume, listen, start }: RetryActions,
): Promise<void> {
  const { view, host } = dependencies;
  if (view.isRunning) return;
  const { messages } = view.state;
  const failed = key === null ? messages.findLast(({ problem }) => problem !== null) : view.message(key);
  switch (failed?.problem?.retry) {
    case undefined:
    case null:
      view.change({ notice: null });
      if (!(await resume())) await start();
      return;
    case "resend":
      await send(unsentAs(failed, dependencies), true);
      return;
    case "again": {
      // The run of that message is over, so this is a new message.
      const said = messages.slice(0, messages.indexOf(failed)).findLast(({ role }) => role === "user");
      if (said !== undefined) await send(newMessage(said.text, host.customerContext(), said), false);
      return;
    }
    case "attach":
      view.remove(failed.key);
      if (await resume()) return;
      solved();
      await listen();
  }
}

/** The message as it was sent before, with its id: it is stored once, whatever became of the first attempt. */
function unsentAs(
  { clientMessageId, text, ...attachments }: ShownMessage,
  { sharedStorage, host }: RetryDependencies,
): OutgoingMessage {
  const kept = unsentMessages(sharedStorage).find((one) => one.clientMessageId === clientMessageId);
  const message = kept ?? newMessage(text, host.customerContext(), attachments);
  return { ...message, clientMessageId: clientMessageId ?? message.clientMessageId };
}
