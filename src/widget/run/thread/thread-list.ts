import { fieldsOf, isString } from "../../service/fields.ts";
import type { JsonStorage } from "../../service/json-storage.ts";
import { readHistory } from "../../service/read-history.ts";
import { readThreads } from "../../service/read-threads.ts";
import type { ListedThread } from "../../service/read-threads.ts";
import type { ShownThread, ShownThreads, ThreadDeletion } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { deleteThread } from "./delete-thread.ts";
import { seenUntil } from "../messages/seen-messages.ts";
import { warnOwner } from "../warn-owner.ts";

/** Fills a tall panel. */
const PAGE_SIZE = 15;
const MOST_TITLES = 200;
const MOST_TITLE_CHARS = 80;

type ListDependencies = Pick<
  ConversationDependencies,
  "api" | "visitor" | "view" | "sharedStorage" | "tabStorage"
>;

export function listThreads(dependencies: ListDependencies): ThreadList {
  return new ThreadList(dependencies);
}

/**
 * The list of the visitor's conversations. The service lists them without titles: the title is the first words of the
 * first message, which is read once for each conversation, and remembered.
 */
export class ThreadList {
  readonly #dependencies: ListDependencies;
  #next: string | null = null;
  /** Number of the list that is shown; an answer for another one is late. */
  #shown = 0;

  constructor(dependencies: ListDependencies) {
    this.#dependencies = dependencies;
  }

  async open(): Promise<void> {
    this.#next = null;
    this.#shown += 1;
    this.#change({ items: [], hasMore: false, deletion: this.#deletion({ threadId: null, phase: "rest" }) });
    await this.more();
  }

  close(): void {
    this.#shown += 1;
    this.#dependencies.view.change({ threads: null });
  }

  /** Loads the next page, or again the one that failed. */
  async more(): Promise<void> {
    const { api, visitor, view } = this.#dependencies;
    const shown = this.#shown;
    this.#change({ phase: "loading" });
    try {
      const visitorToken = await visitor.token();
      const page = await readThreads(api, visitorToken, { limit: PAGE_SIZE, cursor: this.#next });
      if (shown !== this.#shown) return;
      const known = view.state.threads?.items ?? [];
      const added = page.items.filter(({ threadId }) => known.every((one) => one.threadId !== threadId));
      this.#next = page.next;
      const items = [...known, ...added.map((thread) => this.#shownAs(thread))];
      this.#change({ items, hasMore: page.next !== null, phase: "ready" });
      await this.#addTitles(visitorToken, shown);
    } catch (error) {
      if (shown !== this.#shown) return;
      warnOwner(error);
      this.#change({ phase: "failed" });
    }
  }

  /** The state of the question before a deletion. */
  #deletion(state: Pick<ThreadDeletion, "threadId" | "phase">): ThreadDeletion {
    const { threadId } = state;
    const go = (next: typeof state) => this.#change({ deletion: this.#deletion(next) });
    return {
      ...state,
      ask: (asked) => go(asked === null ? { threadId, phase: "rest" } : { threadId: asked, phase: "asking" }),
      confirm: async (leave) => {
        if (threadId === null) return;
        const shown = this.#shown;
        const isCurrent = threadId === this.#dependencies.visitor.threadId;
        go({ threadId, phase: "deleting" });
        try {
          await deleteThread(this.#dependencies, threadId);
        } catch (error) {
          warnOwner(error);
          if (shown === this.#shown) go({ threadId, phase: "failed" });
          return;
        }
        if (isCurrent) return leave();
        if (shown !== this.#shown) return;
        const items = this.#dependencies.view.state.threads?.items ?? [];
        this.#change({ items: items.filter((one) => one.threadId !== threadId) });
        go({ threadId: null, phase: "gone" });
      },
    };
  }

  #shownAs({ threadId, updatedAtMs }: ListedThread): ShownThread {
    const { sharedStorage, visitor } = this.#dependencies;
    const isCurrent = threadId === visitor.threadId;
    const seen = seenUntil(sharedStorage, threadId);
    const isUnread = !isCurrent && seen !== null && updatedAtMs > seen;
    return { threadId, title: titleIn(sharedStorage, threadId), atMs: updatedAtMs, isCurrent, isUnread };
  }

  async #addTitles(visitorToken: string, shown: number): Promise<void> {
    const { api, view, sharedStorage } = this.#dependencies;
    for (const { threadId, title } of view.state.threads?.items ?? []) {
      if (title !== null) continue;
      const thread = { visitorToken, threadId };
      // Ids count up from 1: first what is before id 2; a thread with a single message is read from its end.
      const first =
        (await readHistory(api, thread, "2", 1)).messages[0] ??
        (await readHistory(api, thread, null, 1)).messages[0];
      if (shown !== this.#shown) return;
      if (first !== undefined) keepTitle(sharedStorage, threadId, titleOf(first.text));
      const items = view.state.threads?.items ?? [];
      // The thread is empty.
      if (first === undefined) this.#change({ items: items.filter((one) => one.threadId !== threadId) });
      else
        this.#change({
          items: items.map((one) =>
            one.threadId === threadId ? { ...one, title: titleOf(first.text) } : one,
          ),
        });
    }
  }

  #change(change: Partial<ShownThreads>): void {
    const { view } = this.#dependencies;
    const before = view.state.threads ?? { items: [], hasMore: false, phase: "loading" };
    view.change({ threads: { ...before, ...change } });
  }
}

function titleOf(text: string): string {
  const words = text.trim().replace(/\s+/g, " ");
  if (words.length <= MOST_TITLE_CHARS) return words;
  const cut = words.slice(0, MOST_TITLE_CHARS);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), MOST_TITLE_CHARS / 2))}…`;
}

function titleIn(storage: JsonStorage, threadId: string): string | null {
  const title = fieldsOf(storage.read("titles"))[threadId];
  return isString(title) ? title : null;
}

function keepTitle(storage: JsonStorage, threadId: string, title: string): void {
  const titles = Object.entries(fieldsOf(storage.read("titles"))).slice(1 - MOST_TITLES);
  storage.write("titles", { ...Object.fromEntries(titles), [threadId]: title });
}
