import type { FeedLine } from "../../../protocol/feed.ts";
import type { HistoryItem } from "../../../protocol/history.ts";
import { messageOf } from "../../service/read-history.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { alertVisitor } from "./alert-visitor.ts";
import { approveCalls } from "./approve-calls.ts";
import { branchOut, leftBy } from "./branch-out.ts";
import { handleFiles } from "./handle-files.ts";
import { PersonWatch } from "./person-watch.ts";
import { rateReplies } from "./rate-replies.ts";
import { countUnseen, noteSeen } from "../messages/seen-messages.ts";
import { spokenLately } from "../messages/spoken-lately.ts";
import type { TabRun } from "../tab/tab-run.ts";
import { sayNow } from "./say-now.ts";
import { ThreadFeed } from "./thread-feed.ts";
import { shownMessage } from "../messages/transcript.ts";
import type { Transcript } from "../messages/transcript.ts";
import { dropUnsent } from "../messages/unsent-messages.ts";
import { warnOwner } from "../warn-owner.ts";
import { withItem } from "../messages/with-item.ts";

export interface FollowedThreadOptions {
  dependencies: ConversationDependencies;
  transcript: Transcript;
  run: TabRun;
  /** Loads the history again, and notices if the thread is gone. */
  refresh: (this: void) => Promise<void>;
  /** What a screen reader says of a reply. */
  spokenText: (this: void, text: string) => string;
  /** Retries what failed. */
  retry: (this: void) => Promise<void>;
}

export function followThread(options: FollowedThreadOptions): FollowedThread {
  return new FollowedThread(options);
}

/**
 * Keeps the view up to date with the thread by its feed: shows messages from elsewhere, and follows the runs that answer
 * them. It begins when an element shows the conversation.
 */
export class FollowedThread {
  readonly #options: FollowedThreadOptions;
  readonly #feed: ThreadFeed;
  readonly #person: PersonWatch;
  /** A run to follow: begun by a message from elsewhere, or a lost one of this tab. */
  #due: string | null = null;
  /** The feed was refused, or reported the deletion, during a run: the history must be reloaded after it. */
  #isDoubted = false;
  /** The feed's last visitor message is one that this page already showed. */
  #isOwnSaid = false;
  /** The thread and reply that the service knows to be shown. */
  #shownAt = "";

  constructor(options: FollowedThreadOptions) {
    this.#options = options;
    const { api, visitor } = options.dependencies;
    this.#person = new PersonWatch(options.dependencies);
    rateReplies(options.dependencies);
    branchOut(options.dependencies, options);
    approveCalls(options.dependencies);
    sayNow(options.dependencies);
    handleFiles(options.dependencies);
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

  /** Call when the panel, the page, the thread, a run, or what was seen may have changed. */
  check(): void {
    this.#feed.check();
    this.#person.check();
    if (!this.#isWanted()) this.#due = null;
    this.#noteSeen();
    if (this.#isDoubted) void this.#refresh();
    this.#listen();
  }

  /** Counts unread messages again, while this tab is not seen: the history was loaded, or another tab has shown it. */
  recount(): void {
    const { view, host, sharedStorage, visitor } = this.#options.dependencies;
    if (visitor.threadId === null || !this.#isShown || host.isSeen()) return;
    const unread = countUnseen(sharedStorage, visitor.threadId, view.state.messages);
    if (unread !== null && unread !== view.state.unread) view.change({ unread });
  }

  renew(): void {
    this.#feed.renew();
  }

  /** The tab leaves the thread, and its runs are no longer followed. */
  leave(): void {
    this.#due = null;
    this.#isDoubted = false;
    this.#person.leave();
    this.#feed.check();
  }

  #isWanted(): boolean {
    const { host, sharedStorage, view } = this.#options.dependencies;
    // A person's answer is told in the title of a hidden tab.
    const isNear = host.isInView() || (view.state.person ?? null) !== null;
    return isNear && (host.isSeen() || spokenLately(sharedStorage));
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
        const runId = "runId" in line ? line.runId : null;
        const isAtWork = line.state === "running";
        this.#person.take(line);
        // A run that waits for a page tool, and is known here, sends nothing until the page has answered.
        const isNews = isAtWork || (runId !== null && !run.knows(runId));
        // The feed sends a message before its run; without `x-run-id` (a proxy may remove it) this tab does not know the run.
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
      case "ping":
    }
  }

  #takeItem(item: HistoryItem): void {
    const { view, host, sharedStorage } = this.#options.dependencies;
    // A branch began here, or elsewhere.
    const messages =
      item.replaces === undefined ? view.state.messages : leftBy(item.replaces, item.id, view.state.messages);
    const shown = shownMessage(messageOf(item), host);
    if (item.clientMessageId) dropUnsent(sharedStorage, { clientMessageId: item.clientMessageId });
    const next = withItem(messages, shown);
    view.change({ messages: next });
    if (shown.role === "user") this.#isOwnSaid = next.length === messages.length;
    // The due run has finished its reply.
    if (shown.role === "assistant") this.#due = null;
    if (shown.author) this.#person.types(false);
    // The lost or unsent message has arrived.
    const mayRetry = next.some(({ problem }) => problem !== null && problem.retry !== null);
    if (!mayRetry) this.#options.run.tell({ type: "problem.solved" });
    if (next.length > messages.length && shown.role === "assistant") {
      if (host.isSeen()) view.change({ announcement: this.#options.spokenText(shown.text) });
      else {
        view.countUnread();
        // Nobody asked, or a person answers.
        if (shown.author !== undefined || messages.at(-1)?.role !== "user")
          alertVisitor(this.#options.dependencies, shown, this.#options.spokenText(shown.text));
      }
      host.emit("message", { role: "assistant", text: shown.text });
    }
    this.#noteSeen();
  }

  #noteSeen(): void {
    const { view, host, sharedStorage, visitor } = this.#options.dependencies;
    if (visitor.threadId === null || !this.#isShown || !host.isSeen()) return;
    noteSeen(sharedStorage, visitor.threadId, view.state.messages);
    if (view.state.tellsUnread === true) this.#tellShown(visitor.threadId);
  }

  /** Tells the service which replies this page has shown, each once. */
  #tellShown(threadId: string): void {
    const { api, visitor, view } = this.#options.dependencies;
    const last = view.state.messages.findLast(
      ({ role, id, live }) => role === "assistant" && id !== null && !live,
    );
    const place = `${threadId} ${last?.id}`;
    if (!last || visitor.access === null || place === this.#shownAt) return;
    this.#shownAt = place;
    const path = `/threads/${encodeURIComponent(threadId)}/shown`;
    const { visitorToken } = visitor.access;
    api({ path, visitorToken, body: { messageId: last.id } }).catch((error: unknown) => {
      this.#shownAt = "";
      warnOwner(error);
    });
  }

  /** The view shows the tab's own thread. */
  get #isShown(): boolean {
    const { dependencies, transcript } = this.#options;
    const { threadId } = dependencies.visitor;
    return threadId !== null && transcript.lastIdIn(threadId) !== null;
  }

  /** Follows the due run, unless another one is active. */
  #listen(): void {
    const { dependencies, run, retry } = this.#options;
    const { view, visitor, host } = dependencies;
    const [runId, thread] = [this.#due, visitor.access];
    if (runId === null || thread === null || view.isRunning || !host.isSeen()) return;
    this.#due = null;
    if (run.hasSeenEndOf(runId)) return;
    const isLost = view.state.messages.some(({ problem }) => problem?.retry === "attach");
    void (isLost ? retry() : run.watch(thread, runId, "feed"));
  }
}
