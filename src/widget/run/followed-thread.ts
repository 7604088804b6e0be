import type { FeedLine } from "../service/read-feed.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import { PersonWatch } from "./person-watch.ts";
import { rateReplies } from "./rate-replies.ts";
import { countUnseen, noteSeen } from "./seen-messages.ts";
import { spokenLately } from "./spoken-lately.ts";
import type { TabRun } from "./tab-run.ts";
import { ThreadFeed } from "./thread-feed.ts";
import { shownMessage } from "./transcript.ts";
import type { Transcript } from "./transcript.ts";
import { dropUnsent } from "./unsent-messages.ts";
import { withItem } from "./with-item.ts";

export interface FollowedThreadOptions {
  dependencies: ConversationDependencies;
  transcript: Transcript;
  run: TabRun;
  /** Loads the history again, and finds out where it is gone. */
  refresh: (this: void) => Promise<void>;
  /** What a screen reader says of a reply. */
  spokenText: (this: void, text: string) => string;
  /** Goes on with what failed. */
  retry: (this: void) => Promise<void>;
}

export function followThread(options: FollowedThreadOptions): FollowedThread {
  return new FollowedThread(options);
}

/**
 * Keeps what is shown as it is in the thread, by the thread's feed: what was said elsewhere, and the runs that answer it,
 * which are read along with. It begins when an element shows the conversation.
 */
export class FollowedThread {
  readonly #options: FollowedThreadOptions;
  readonly #feed: ThreadFeed;
  readonly #person: PersonWatch;
  /** A run that somebody else's message began, or a lost one of this tab: to be read along with. */
  #due: string | null = null;
  /** The feed was refused, or told of the deletion, while a run was active: the history is to be read when that is over. */
  #isDoubted = false;
  /** The last message that the feed told of is one that this page shows as its own. */
  #isOwnSaid = false;

  constructor(options: FollowedThreadOptions) {
    this.#options = options;
    const { api, visitor } = options.dependencies;
    this.#person = new PersonWatch(options.dependencies);
    rateReplies(options.dependencies);
    this.#feed = new ThreadFeed({
      api,
      visitor,
      after: (threadId) => (this.#isWanted() ? options.transcript.lastIdIn(threadId) : null),
      take: (line, thread) => this.#take(line, thread),
      onRefused: () => this.#refresh(),
    });
  }

  get isLive(): boolean {
    return this.#feed.isLive;
  }

  /** The panel, the page, the thread, a run or what was seen of it may be another one. */
  check(): void {
    this.#feed.check();
    if (!this.#isWanted()) this.#due = null;
    this.#noteSeen();
    if (this.#isDoubted) void this.#refresh();
    this.#listen();
  }

  /** The history was loaded, or another tab has seen it: what is new to the visitor is counted, while nobody looks here. */
  recount(): void {
    const { view, host, sharedStorage, visitor } = this.#options.dependencies;
    if (visitor.threadId === null || !this.#isShown || host.isSeen()) return;
    const unread = countUnseen(sharedStorage, visitor.threadId, view.state.messages);
    if (unread !== null && unread !== view.state.unread) view.change({ unread });
  }

  renew(): void {
    this.#feed.renew();
  }

  /** What is told of another thread is nobody's to read along with. */
  leave(): void {
    this.#due = null;
    this.#isDoubted = false;
    this.#person.leave();
    this.#feed.check();
  }

  #isWanted(): boolean {
    const { host, sharedStorage } = this.#options.dependencies;
    return host.isInView() && (host.isSeen() || spokenLately(sharedStorage));
  }

  async #refresh(): Promise<void> {
    this.#isDoubted = this.#options.dependencies.view.isRunning;
    if (!this.#isDoubted) await this.#options.refresh();
  }

  async #take(line: FeedLine, thread: ThreadAccess): Promise<void> {
    const { run, transcript } = this.#options;
    switch (line.type) {
      case "message":
        return this.#takeItem(line.item);
      case "state": {
        const { runId, isAtWork, person } = line;
        this.#person.take(person, isAtWork);
        // What waits for a page says no more until that has answered.
        const isNews = isAtWork || (runId !== null && !run.knows(runId));
        // The message comes before its run, which need not have a name for this tab (a service of version 0.1.0).
        const isOwn = run.isOwn && this.#isOwnSaid;
        this.#due = isNews && !isOwn ? runId : null;
        return this.#listen();
      }
      case "typing":
        return this.#person.types(true);
      case "reset":
        await transcript.reload(thread, { isReset: true });
        return this.#noteSeen();
      case "deleted":
        return this.#refresh();
    }
  }

  #takeItem(item: Extract<FeedLine, { type: "message" }>["item"]): void {
    const { view, host, sharedStorage } = this.#options.dependencies;
    const { messages } = view.state;
    const shown = shownMessage(item, host);
    if (item.clientMessageId !== null) dropUnsent(sharedStorage, { clientMessageId: item.clientMessageId });
    const next = withItem(messages, shown);
    view.change({ messages: next });
    if (shown.role === "user") this.#isOwnSaid = next.length === messages.length;
    // The run that was due has said what it had to say.
    if (shown.role === "assistant") this.#due = null;
    if (shown.author) this.#person.types(false);
    // What was lost or not sent has arrived.
    const mayRetry = next.some(({ problem }) => problem !== null && problem.retry !== null);
    if (view.state.phase === "error" && !mayRetry) view.rest();
    if (next.length > messages.length && shown.role === "assistant") {
      if (host.isSeen()) view.change({ announcement: this.#options.spokenText(shown.text) });
      else view.countUnread();
      host.emit("message", { role: "assistant", text: shown.text });
    }
    this.#noteSeen();
  }

  #noteSeen(): void {
    const { view, host, sharedStorage, visitor } = this.#options.dependencies;
    if (visitor.threadId !== null && this.#isShown && host.isSeen())
      noteSeen(sharedStorage, visitor.threadId, view.state.messages);
  }

  /** What is shown is of the thread that the tab is in. */
  get #isShown(): boolean {
    const { dependencies, transcript } = this.#options;
    const { threadId } = dependencies.visitor;
    return threadId !== null && transcript.lastIdIn(threadId) !== null;
  }

  /** Reads along, where nothing else is under way. */
  #listen(): void {
    const { dependencies, run, retry } = this.#options;
    const { view, visitor, host } = dependencies;
    const [runId, thread] = [this.#due, visitor.access];
    if (runId === null || thread === null || view.isRunning || !host.isSeen()) return;
    this.#due = null;
    if (run.hasSeenEndOf(runId)) return;
    const isLost = view.state.messages.some(({ problem }) => problem?.retry === "attach");
    void (isLost ? retry() : run.listen(thread, runId));
  }
}
