import { readHistory } from "../service/read-history.ts";
import type { HistoryMessage, HistoryPage } from "../service/read-history.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import type { ShownMessage } from "../view/view-state.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import type { ConversationHost } from "./conversation-host.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import { titled } from "./titled-step.ts";
import { dropUnsent, unsentMessages } from "./unsent-messages.ts";
import { isBefore, lastIdOf } from "./with-item.ts";

/** The thread's history in the view, and below it what was not sent. */
export class Transcript {
  readonly #dependencies: ConversationDependencies;
  readonly #onGone: () => void;
  /** The thread whose history is shown. */
  #threadId: string | null = null;

  /** `onGone`: the service does not know the thread any more. */
  constructor(dependencies: ConversationDependencies, onGone: () => void) {
    this.#dependencies = dependencies;
    this.#onGone = onGone;
  }

  /** Shows the history on a page just opened. A message that is being sent waits for this, and stays below. */
  async load(thread: ThreadAccess): Promise<void> {
    const { view } = this.#dependencies;
    const page = await this.#newest(thread);
    if (page === null) return;
    const { sending } = view;
    // Of a message that is sent again, the history may hold all that is about to be told.
    const { messages } = upTo(page.messages, sending[0]?.clientMessageId ?? null);
    view.change({ ...page, messages: [...messages, ...sending] });
  }

  /**
   * Shows the history anew. What was added while it was on its way stays behind it, and so does what is newer than an
   * answer that was long on its way; not after a `reset`, where the history may have gone back.
   */
  async reload(thread: ThreadAccess, { isReset = false } = {}): Promise<void> {
    const { view } = this.#dependencies;
    const before = new Set(view.state.messages.map(({ key }) => key));
    const page = await this.#newest(thread);
    if (page === null) return;
    const lastId = lastIdOf(page.messages);
    const kept = view.state.messages.filter(({ id, key }) =>
      id === null ? !before.has(key) : !isReset && isBefore(lastId, id),
    );
    // Of a message that is being sent, the history may hold all that is about to be told.
    const { messages } = upTo(page.messages, kept.find(({ id }) => id === null)?.clientMessageId ?? null);
    view.change({ ...page, messages: [...messages, ...kept] });
  }

  /** Where the feed of the thread goes on; null: its history is not shown yet. */
  lastIdIn(threadId: string): string | null {
    return this.#threadId === threadId ? lastIdOf(this.#dependencies.view.state.messages) : null;
  }

  /** Ends what is shown with this message: its run is about to be told from the beginning. */
  endWith(message: OutgoingMessage): void {
    const { view } = this.#dependencies;
    const { messages, found } = upTo(view.state.messages, message.clientMessageId);
    if (found !== null) view.change({ messages: [...messages, { ...found, problem: null }] });
    // It waits for its turn.
    else view.addSaid(message);
  }

  /** Adds the page of history before the first message shown. */
  async loadEarlier(): Promise<void> {
    const { api, visitor, view, host } = this.#dependencies;
    const first = view.state.messages[0];
    if (first === undefined || first.id === null) return;
    const page = shownPage(await readHistory(api, await visitor.thread(), first.id), host);
    // The same page may be on its way twice, and another conversation be shown by now.
    if (view.state.messages[0]?.key !== first.key) return;
    view.change({ ...page, messages: [...page.messages, ...view.state.messages] });
  }

  /** A new thread; what is being sent goes there. */
  startOver(): void {
    const { sharedStorage, view } = this.#dependencies;
    this.#threadId = null;
    sharedStorage.write("catalog", null);
    view.change({ messages: view.sending, hasEarlier: false });
  }

  /** A thread that was made for the first message: nothing is in it. */
  begin(threadId: string): void {
    this.#threadId = threadId;
  }

  /** null: the thread is gone, or the tab is in another one by now. */
  async #newest(thread: ThreadAccess): Promise<ShownPage | null> {
    const { api, visitor, host } = this.#dependencies;
    const { threadId } = thread;
    try {
      // Before steps are shown: they have the titles of these.
      await host.tools();
      const page = await readHistory(api, thread, null);
      if (visitor.threadId !== threadId) return null;
      this.#threadId = threadId;
      return this.#withUnsent(shownPage(page, host));
    } catch (error) {
      if (visitor.threadId !== threadId) return null;
      if (!visitor.forgetUnknown(error, thread.visitorToken)) throw error;
      this.#onGone();
      this.startOver();
      return null;
    }
  }

  #withUnsent({ messages, hasEarlier }: ShownPage): ShownPage {
    const { sharedStorage, host, view } = this.#dependencies;
    const has = (shown: ShownMessage[], { clientMessageId }: OutgoingMessage) =>
      shown.some((message) => message.clientMessageId === clientMessageId);
    for (const message of unsentMessages(sharedStorage)) {
      if (has(messages, message)) dropUnsent(sharedStorage, message);
    }
    const problem = { text: host.strings().notSent, retry: "resend" } as const;
    const unsent = unsentMessages(sharedStorage)
      .filter((message) => !has(view.sending, message))
      .map(({ clientMessageId, text, images }): ShownMessage => {
        const key = `u${clientMessageId}`;
        const rest = { steps: [], live: false, atMs: null, isCutOff: false, problem };
        return { key, id: null, role: "user", text, images, clientMessageId, ...rest };
      });
    return { messages: [...messages, ...unsent], hasEarlier };
  }
}

interface ShownPage {
  messages: ShownMessage[];
  hasEarlier: boolean;
}

function shownPage({ messages, hasEarlier }: HistoryPage, host: ConversationHost): ShownPage {
  return { messages: messages.map((message) => shownMessage(message, host)), hasEarlier };
}

export function shownMessage({ isFault, ...message }: HistoryMessage, host: ConversationHost): ShownMessage {
  const problem = isFault ? { text: host.strings().failed, retry: null } : null;
  const steps = message.steps.map((step) => titled(step, host));
  return { ...message, steps, key: `h${message.id}`, live: false, isCutOff: false, problem };
}

/** The messages before the one with this id, or all; and that one. */
function upTo(
  messages: ShownMessage[],
  clientMessageId: string | null,
): { messages: ShownMessage[]; found: ShownMessage | null } {
  const at = messages.findIndex((message) => message.clientMessageId === clientMessageId);
  const found = messages[at];
  if (clientMessageId === null || found === undefined) return { messages, found: null };
  return { messages: messages.slice(0, at), found };
}
