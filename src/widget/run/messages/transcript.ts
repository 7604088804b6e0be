import { readHistory } from "../../service/read-history.ts";
import type { HistoryMessage, HistoryPage } from "../../service/read-history.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import type { ShownMessage } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import type { ConversationHost } from "../conversation-host.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import { problemOf } from "../tab/problem-of.ts";
import { titled } from "./titled-step.ts";
import { dropUnsent, unsentMessages } from "./unsent-messages.ts";
import { isBefore, lastIdOf, withLater } from "./with-item.ts";

/** The thread's history in the view, and the unsent messages below it. */
export class Transcript {
  readonly #dependencies: ConversationDependencies;
  readonly #onGone: () => void;
  /** The thread whose history is shown. */
  #threadId: string | null = null;

  /** `onGone`: the service no longer knows the thread. */
  constructor(dependencies: ConversationDependencies, onGone: () => void) {
    this.#dependencies = dependencies;
    this.#onGone = onGone;
  }

  /** Shows the history on a newly opened page. A message that is being sent waits for this, and stays below. */
  async load(thread: ThreadAccess): Promise<void> {
    const { view } = this.#dependencies;
    const page = await this.#newest(thread);
    if (page === null) return;
    view.change({ ...page, messages: withLater(page.messages, view.sending) });
  }

  /**
   * Reloads the history. Messages added during the request stay behind it, as do items newer than a slow answer; not
   * after a `reset`, since the history may have gone back.
   */
  async reload(thread: ThreadAccess, { isReset = false } = {}): Promise<void> {
    const { view } = this.#dependencies;
    const before = new Set(view.state.messages.map(({ key }) => key));
    const page = await this.#newest(thread);
    if (page === null) return;
    const lastId = lastIdOf(page.messages);
    const { sending } = view;
    const isLater = ({ id, key }: ShownMessage) =>
      id === null ? !before.has(key) : !isReset && isBefore(lastId, id);
    const later = view.state.messages
      .filter((message) => sending.includes(message) || isLater(message))
      .map((message) => (isReset ? { ...message, id: null } : message));
    view.change({ ...page, messages: withLater(page.messages, later) });
  }

  /** Without a thread there are only unsent messages. */
  showUnsent(): void {
    const { view } = this.#dependencies;
    if (view.state.messages.length === 0) view.change(this.#withUnsent({ messages: [], hasEarlier: false }));
  }

  /** From where the thread's feed continues; null: its history is not shown yet. */
  lastIdIn(threadId: string): string | null {
    return this.#threadId === threadId ? lastIdOf(this.#dependencies.view.state.messages) : null;
  }

  /** Adds the page of history before the first message shown. */
  async loadEarlier(): Promise<void> {
    const { api, visitor, view, host } = this.#dependencies;
    const first = view.state.messages[0];
    if (first === undefined || first.id === null) return;
    const page = shownPage(await readHistory(api, await visitor.thread(), first.id), host);
    // The same page may have been requested twice, or another conversation may be shown by now.
    if (view.state.messages[0]?.key !== first.key) return;
    view.change({ ...page, messages: [...page.messages, ...view.state.messages] });
  }

  /** Begins a new thread, to which the message being sent goes. */
  startOver(): void {
    const { sharedStorage, view } = this.#dependencies;
    this.#threadId = null;
    sharedStorage.write("catalog", null);
    // Ids belong to a thread.
    const messages = view.sending.map((message) => ({ ...message, id: null }));
    view.change({ messages, hasEarlier: false });
  }

  /** The thread was just created for the first message, and is empty. */
  begin(threadId: string): void {
    this.#threadId = threadId;
  }

  /** null: the thread is gone, or the tab is in another one by now. */
  async #newest(thread: ThreadAccess): Promise<ShownPage | null> {
    const { api, visitor, host } = this.#dependencies;
    const { threadId } = thread;
    try {
      // First, because the titles of steps come from the tools.
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
      .map(({ clientMessageId, text, images, files }): ShownMessage => {
        const key = `u${clientMessageId}`;
        const rest = { steps: [], live: false, atMs: null, isCutOff: false, problem };
        return { key, id: null, role: "user", text, images, files, clientMessageId, ...rest };
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

export function shownMessage({ failure, ...message }: HistoryMessage, host: ConversationHost): ShownMessage {
  const problem = failure && {
    ...problemOf(failure, host.strings()),
    retry: null,
    isTold: failure.code !== undefined,
  };
  const steps = message.steps.map((step) => titled(step, host));
  return { ...message, steps, key: `h${message.id}`, live: false, isCutOff: false, problem };
}
