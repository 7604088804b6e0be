import { readHistory } from "../service/read-history.ts";
import type { HistoryMessage, HistoryPage } from "../service/read-history.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import type { ShownMessage } from "../view/view-state.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

/** The thread's history in the view. */
export class Transcript {
  readonly #dependencies: ConversationDependencies;
  readonly #onGone: () => void;

  /** `onGone`: the thread no longer exists. */
  constructor(dependencies: ConversationDependencies, onGone: () => void) {
    this.#dependencies = dependencies;
    this.#onGone = onGone;
  }

  /** Shows the history on a page just opened. A message that is being sent waits for this, and stays below. */
  async load(thread: ThreadAccess): Promise<void> {
    const { view } = this.#dependencies;
    const page = await this.#newest(thread);
    if (page === null) return;
    const isSending = view.state.phase === "sending";
    const unsent = isSending ? view.state.messages.filter(({ key }) => key.startsWith("l")) : [];
    view.change({ ...page, messages: [...page.messages, ...unsent] });
  }

  /** Shows the history anew, unless a message was added meanwhile, which it may or may not hold. */
  async reload(thread: ThreadAccess): Promise<void> {
    const { view } = this.#dependencies;
    const lastKey = view.state.messages.at(-1)?.key;
    const page = await this.#newest(thread);
    if (page !== null && view.state.messages.at(-1)?.key === lastKey) view.change(page);
  }

  /** Adds the page of history before the first message shown. */
  async loadEarlier(): Promise<void> {
    const { api, visitor, view } = this.#dependencies;
    const first = view.state.messages[0];
    if (first === undefined || !first.key.startsWith("h")) return;
    const page = shownPage(await readHistory(api, await visitor.thread(), first.key.slice(1)));
    view.change({ ...page, messages: [...page.messages, ...view.state.messages] });
  }

  /**
   * Did a message arrive whose response did not? Then the history holds its text once more than the view. Rejects where
   * the service cannot be asked.
   */
  async hasArrived(sent: ShownMessage): Promise<boolean> {
    const { api, visitor, view } = this.#dependencies;
    if (visitor.threadId === null) return false;
    const { messages } = await readHistory(api, await visitor.thread(), null);
    const isSame = ({ role, text }: HistoryMessage | ShownMessage) => role === "user" && text === sent.text;
    const known = view.state.messages.filter(({ key }) => key !== sent.key).slice(-messages.length);
    const delivered = known.filter(({ problem }) => problem === null);
    return messages.filter(isSame).length > delivered.filter(isSame).length;
  }

  /** A new thread, with the messages that are being sent. */
  startOver(...messages: ShownMessage[]): void {
    this.#dependencies.sharedStorage.write("catalog", null);
    this.#dependencies.view.change({ messages, hasEarlier: false });
  }

  async #newest(thread: ThreadAccess): Promise<ShownPage | null> {
    const { api, visitor } = this.#dependencies;
    try {
      return shownPage(await readHistory(api, thread, null));
    } catch (error) {
      if (!visitor.forgetUnknown(error, thread.visitorToken)) throw error;
      this.#onGone();
      return null;
    }
  }
}

interface ShownPage {
  messages: ShownMessage[];
  hasEarlier: boolean;
}

function shownPage({ messages, hasEarlier }: HistoryPage): ShownPage {
  return { messages: messages.map(shownMessage), hasEarlier };
}

function shownMessage({ id, ...message }: HistoryMessage): ShownMessage {
  return { ...message, key: `h${id}`, live: false, problem: null };
}
