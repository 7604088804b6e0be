import { readHistory } from "../service/history.ts";
import type { HistoryMessage, HistoryPage } from "../service/history.ts";
import type { ConversationParts } from "./parts.ts";
import type { Item } from "../view/state.ts";
import { refusedStatus } from "../service/transport.ts";
import type { Place } from "../service/visitor.ts";

/** The messages shown, as far as the service's history has them. */
export class Transcript {
  readonly #parts: ConversationParts;
  readonly #onGone: () => void;

  /** `onGone`: the conversation is no longer there, and what was shown of it neither. */
  constructor(parts: ConversationParts, onGone: () => void) {
    this.#parts = parts;
    this.#onGone = onGone;
  }

  /** On a page just opened: a message that was sent meanwhile waits for this, and comes after it. */
  async begin(at: Place): Promise<void> {
    const { board } = this.#parts;
    const page = await this.#newest(at);
    if (page === null) return;
    const isSending = board.shown.phase === "sending";
    const unsent = isSending ? board.shown.items.filter(({ key }) => key.startsWith("l")) : [];
    board.change({ ...page, items: [...page.items, ...unsent] });
  }

  /** Shows the history in place of what is shown; not where a message came meanwhile, which it may hold or not. */
  async reload(at: Place): Promise<void> {
    const { board } = this.#parts;
    const last = board.shown.items.at(-1)?.key;
    const page = await this.#newest(at);
    if (page !== null && board.shown.items.at(-1)?.key === last) board.change(page);
  }

  /** Puts the page of history before what is shown. */
  async earlier(): Promise<void> {
    const { service, desk, board } = this.#parts;
    const first = board.shown.items[0];
    if (first === undefined || !first.key.startsWith("h")) return;
    const page = shownPage(await readHistory(service, await desk.thread(), first.key.slice(1)));
    board.change({ ...page, items: [...page.items, ...board.shown.items] });
  }

  /**
   * Did a message arrive whose answer never came? The history then holds its text once more than is shown. Rejects
   * where the service cannot tell.
   */
  async holds(question: Item): Promise<boolean> {
    const { service, desk, board } = this.#parts;
    if (desk.threadId === null) return false;
    const { items } = shownPage(await readHistory(service, await desk.thread(), null));
    const isSame = ({ role, text, problem }: Item) =>
      role === "user" && text === question.text && problem === null;
    const known = board.shown.items.filter(({ key }) => key !== question.key).slice(-items.length);
    return items.filter(isSame).length > known.filter(isSame).length;
  }

  /** A new conversation, with what is being sent in it. */
  beginAnew(...items: Item[]): void {
    this.#parts.shelf.write("catalog", null);
    this.#parts.board.change({ items, hasEarlier: false });
  }

  async #newest(at: Place): Promise<{ items: Item[]; hasEarlier: boolean } | null> {
    const { service, desk } = this.#parts;
    try {
      return shownPage(await readHistory(service, at, null));
    } catch (error) {
      const status = refusedStatus(error);
      if (status === 401) desk.forget(at.token);
      else if (status === 404) desk.leaveThread();
      else throw error;
      this.#onGone();
      return null;
    }
  }
}

function shownPage({ messages, hasEarlier }: HistoryPage): { items: Item[]; hasEarlier: boolean } {
  return { items: messages.map(itemOf), hasEarlier };
}

function itemOf({ id, role, content, steps = [] }: HistoryMessage): Item {
  return { key: `h${id}`, role, steps, text: content, live: false, problem: null };
}
