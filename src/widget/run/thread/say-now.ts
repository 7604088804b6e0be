import { DraftAttachments } from "../draft-attachments.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { messageRequest, newMessage } from "../messages/outgoing-message.ts";
import { noteSpoken } from "../messages/spoken-lately.ts";
import { dropUnsent, keepUnsent } from "../messages/unsent-messages.ts";
import { warnOwner } from "../warn-owner.ts";
import { writeDraft } from "../write-draft.ts";

/**
 * Sends a message while a reply is being written, where the channel has it steer that reply, or end it. Its own reply is
 * followed as one to a message from elsewhere: the thread's feed tells of it.
 */
export function sayNow(dependencies: ConversationDependencies): void {
  const { api, visitor, view, host, sharedStorage } = dependencies;
  const draft = new DraftAttachments(dependencies);

  async function say(text: string): Promise<void> {
    const { images, files } = draft.take();
    const message = newMessage(text.trim(), host.customerContext(), { images, files });
    const { clientMessageId } = message;
    const key = `n${clientMessageId}`;
    writeDraft(dependencies, "");
    keepUnsent(sharedStorage, message);
    noteSpoken(sharedStorage);
    const shown = {
      key,
      id: null,
      role: "user" as const,
      text: message.text,
      images,
      files,
      clientMessageId,
    };
    const rest = { steps: [], live: false, atMs: Date.now(), isCutOff: false, problem: null };
    view.change({ messages: [...view.state.messages, { ...shown, ...rest }] });
    host.emit("message", { role: "user", text: message.text });
    const stream = new AbortController();
    try {
      await api({ ...messageRequest(message, await visitor.thread(), host), signal: stream.signal });
      dropUnsent(sharedStorage, message);
    } catch (error) {
      warnOwner(error);
      const problem = { text: host.strings().notSent, retry: "resend" as const };
      view.edit(key, (one) => ({ ...one, problem }));
    } finally {
      stream.abort();
    }
  }

  view.change({ sayNow: (text) => void say(text) });
}
