import type { CustomerContext } from "../service/customer-context.ts";
import type { ChannelFacts } from "../service/read-channel.ts";
import { readThreads } from "../service/read-threads.ts";
import { VisitorSession } from "../service/visitor-session.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import { spokenText } from "../view/panel-module.ts";
import { ViewModel } from "../view/view-model.ts";
import { isRunning } from "../view/view-state.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import { DraftAttachments } from "./draft-attachments.ts";
import type { Attachments } from "./draft-attachments.ts";
import { busySeconds } from "../service/widget-api.ts";
import type { FollowedThread, FollowedThreadOptions } from "./thread/followed-thread.ts";
import { newMessage } from "./messages/outgoing-message.ts";
import type { OutgoingMessage } from "./messages/outgoing-message.ts";
import { Recovery } from "./recovery.ts";
import { retry } from "./retry.ts";
import { readSavedRun } from "./tab/saved-run.ts";
import { showFailure } from "./tab/show-failure.ts";
import { spokenLately } from "./messages/spoken-lately.ts";
import type { ThreadList } from "./thread/thread-list.ts";
import { faultOf } from "./tab/fault-of.ts";
import { TabRun } from "./tab/tab-run.ts";
import { Transcript } from "./messages/transcript.ts";
import { dropAllUnsent } from "./messages/unsent-messages.ts";
import { warnOwner } from "./warn-owner.ts";
import { leaveDraft, takeDraft, writeDraft } from "./write-draft.ts";

export interface ConversationOptions extends Omit<ConversationDependencies, "visitor" | "view"> {
  publishableKey: string;
}

/** The part that is loaded with the panel. */
export interface ConversationPart {
  followThread(this: void, options: FollowedThreadOptions): FollowedThread;
  listThreads(this: void, dependencies: ConversationDependencies): ThreadList;
}

/** One visitor's conversation in this tab: what the visitor and the page can do with it. */
export class Conversation {
  readonly visitor: VisitorSession;
  readonly view: ViewModel;
  readonly attachments: DraftAttachments;
  readonly #dependencies: ConversationDependencies;
  readonly #transcript: Transcript;
  readonly #run: TabRun;
  readonly #recovery: Recovery;
  /** null until that part of the script is loaded. */
  #followed: FollowedThread | null = null;
  #threads: ThreadList | null = null;
  /** null until the history is asked for, and after a failure. */
  #starting: Promise<void> | null = null;
  /** The thread that was shown is gone and the tab has none: it must not move to an older one. */
  #isThreadGone = false;
  /** The channel's facts were requested; false again after a failure, or if the page's origin is refused. */
  #isAsked = false;
  #readChannel: (() => Promise<ChannelFacts>) | null = null;

  constructor({ publishableKey, ...options }: ConversationOptions) {
    const { api, sharedStorage, tabStorage, lockPrefix, host } = options;
    this.visitor = new VisitorSession({
      api,
      publishableKey,
      storage: sharedStorage,
      tabStorage,
      lockName: `${lockPrefix}visitor`,
      onVisitor: (expiresAt) => host.emit("visitor", { expiresAt }),
      onThread: (threadId) => {
        this.#transcript.begin(threadId);
        this.#followed?.check();
        host.emit("thread", { threadId });
      },
    });
    const draft = tabStorage.read("draft");
    this.view = new ViewModel(typeof draft === "string" ? draft : "", (now, before) => {
      host.redraw();
      if (now.phase !== before.phase) host.emit("state", { state: now.phase });
      if (now.unread !== before.unread) host.emit("unread", { count: now.unread });
      // In a microtask: after everything about the ended run is reported.
      if (now.isQueued && !isRunning(now.phase)) queueMicrotask(() => void this.#sendQueued());
      if (isRunning(before.phase) && !isRunning(now.phase)) queueMicrotask(() => this.#followed?.check());
    });
    this.#dependencies = { ...options, visitor: this.visitor, view: this.view };
    this.attachments = new DraftAttachments(this.#dependencies);
    this.#transcript = new Transcript(this.#dependencies, () => {
      this.#isThreadGone = true;
      this.#run.forgetAllowed();
    });
    this.#run = new TabRun(this.#dependencies, this.#transcript, {
      start: () => this.start(),
      resumes: () => void (this.#starting = Promise.resolve()),
      loaded: () => this.#isLoaded(),
      failed: (error) => {
        this.#starting = null;
        showFailure(this.#dependencies, error);
        this.#recovery.failed(busySeconds(error));
      },
    });
    this.#recovery = new Recovery(
      () => void this.#recover(),
      () => host.isSeen(),
    );
  }

  /** null until that part of the script is loaded. */
  get threads(): ThreadList | null {
    return this.#threads;
  }

  /** Starts following the thread's feed, and makes other threads available. */
  complete({ followThread, listThreads }: ConversationPart): void {
    const dependencies = this.#dependencies;
    this.#threads ??= listThreads(dependencies);
    this.#followed ??= followThread({
      dependencies,
      transcript: this.#transcript,
      run: this.#run,
      refresh: () => this.refresh(),
      spokenText,
      retry: () => this.retry(),
    });
    this.#followed.recount();
    this.#followed.check();
  }

  /**
   * Loads the existing conversation when the panel first opens on this page. Creates nothing before the first message:
   * somebody who only looks is not a visitor for the service.
   */
  async start(): Promise<void> {
    this.#starting ??= this.#guarded(async () => {
      await this.#enterLatest();
      // Twice, in case the tab's thread is gone and the tabs share another one.
      for (let tries = 0; tries < 2 && this.visitor.threadId !== null; tries += 1) {
        const thread = await this.visitor.thread();
        await this.#transcript.load(thread);
        if (this.visitor.threadId !== thread.threadId) continue;
        this.#isLoaded();
        return await this.#attachIfUnanswered(thread);
      }
      this.#transcript.showUnsent();
      this.#isLoaded();
    });
    await this.#starting;
  }

  /** Asks what the composer may offer, when the panel is shown. A failure stays silent: nothing extra is offered then. */
  learn(readChannel = this.#readChannel): void {
    this.#readChannel = readChannel;
    if (this.#isAsked || readChannel === null) return;
    this.#isAsked = true;
    readChannel().then(
      (facts) => this.#learned(facts),
      () => {
        this.#isAsked = false;
      },
    );
  }

  #learned(facts: ChannelFacts): void {
    const { view } = this;
    const wasRefused = view.state.isOriginRefused === true;
    view.change(facts);
    this.#followed?.check();
    if (facts.isOriginRefused) {
      this.#isAsked = false;
      this.#run.tell({ type: "origin.refused" });
      view.change({
        notice: { text: this.#dependencies.host.strings().misconfigured, alert: true, retry: true },
      });
    } else if (wasRefused) this.#isLoaded();
  }

  /** Loads the conversation again after a failure. */
  async reload(): Promise<void> {
    if (this.view.isRunning) return;
    this.learn();
    this.#starting = null;
    if (!(await this.resume())) await this.start();
  }

  /**
   * Continues the run that this tab saved, on the previous page or when it lost the connection. Resolves to false if
   * there is none, or another tab has it: this tab is a duplicate of that one.
   */
  async resume(): Promise<boolean> {
    const { tabStorage } = this.#dependencies;
    const saved = readSavedRun(tabStorage);
    if (saved === null) {
      tabStorage.write("run", null);
      return false;
    }
    const isOurs = await this.#run.resume(saved);
    if (isOurs !== null && saved.runId === undefined) {
      await this.#sent(isOurs);
      return true;
    }
    if (isOurs === false) this.#starting = null;
    return isOurs === true;
  }

  /** Resolves when the run has ended, well or badly; rejects while another one is active. */
  async send(text: string, context: CustomerContext | null, attachments: Attachments = {}): Promise<void> {
    const message = newMessage(text, context, attachments);
    if (text !== "" || message.files !== undefined) await this.#send(message, false);
  }

  /** Sends the composer's text, with the images and files beside it. */
  async sendDraft(text: string, context: CustomerContext | null): Promise<void> {
    if (text !== "" || this.view.state.files.length > 0)
      await this.send(text, context, this.attachments.take());
  }

  /** Sends the text when the reply is over, or after the Retry of one that broke off. It stays in the composer until then. */
  queue(text: string): void {
    this.writeDraft(text);
    this.view.change({ isQueued: true });
  }

  /** Repeats what failed: the message with this key, or the last one. */
  async retry(key: string | null = null): Promise<void> {
    await retry(this.#dependencies, key, {
      solved: () => this.#run.tell({ type: "problem.solved" }),
      send: (message, isRepeat) => this.#send(message, isRepeat),
      resume: () => this.resume(),
      listen: () => this.#guarded(async () => this.#run.watch(await this.visitor.thread(), null, "history")),
      start: () => this.start(),
    });
  }

  /** Stops the active run. The reply so far stays. */
  async stop(): Promise<void> {
    await this.#run.stop();
  }

  /** The next message of this tab begins a new conversation. Other tabs keep theirs. */
  async newThread(): Promise<void> {
    if (this.#run.isOwn) await this.stop();
    this.#run.tell({ type: "run.left" });
    leaveDraft(this.#dependencies);
    this.visitor.leaveThread();
    this.#forgetThread();
    takeDraft(this.#dependencies);
    await this.start();
  }

  /** Shows the visitor's conversation with this id. A run of the current one continues without this tab. */
  async enterThread(threadId: string): Promise<void> {
    this.#threads?.close();
    if (threadId === this.visitor.threadId) return;
    this.#run.tell({ type: "run.left" });
    leaveDraft(this.#dependencies);
    this.visitor.enterThread(threadId);
    this.#forgetThread();
    takeDraft(this.#dependencies);
    await this.start();
    const { host } = this.#dependencies;
    if (this.visitor.threadId === threadId) host.emit("thread", { threadId });
    else host.emit("error", { status: 404, message: "The visitor has no conversation with this threadId" });
  }

  /** Forgets the visitor: token, thread, run and draft. */
  async reset(): Promise<void> {
    await this.stop();
    this.#run.tell({ type: "run.left" });
    this.visitor.forget();
    this.#forgetThread();
    const { sharedStorage, tabStorage } = this.#dependencies;
    tabStorage.write("drafts", null);
    for (const name of ["spoken", "seen", "titles"]) sharedStorage.write(name, null);
  }

  /** A new element shows the conversation that another one showed before. */
  async shownAgain(): Promise<void> {
    if (this.#starting === null) await this.start();
    // Other tabs may have continued the conversation meanwhile.
    else await this.refresh();
  }

  /** Loads the history again, for instance after the visitor was identified. */
  async refresh(): Promise<void> {
    if (this.view.isRunning) return;
    if (this.visitor.threadId === null) {
      this.#starting = null;
      return await this.start();
    }
    await this.#guarded(async () => {
      const thread = await this.visitor.thread();
      await this.#transcript.reload(thread);
      this.#isLoaded();
      await this.#attachIfUnanswered(thread);
    });
  }

  async loadEarlier(): Promise<void> {
    await this.#guarded(() => this.#transcript.loadEarlier());
  }

  writeDraft(text: string): void {
    writeDraft(this.#dependencies, text);
  }

  /** The visitor has sent a message in the last hour, so the badge counts replies. */
  get isFresh(): boolean {
    return spokenLately(this.#dependencies.sharedStorage);
  }

  /** The panel is opened or closed, the page shown or hidden. */
  lookChanged(): void {
    const { host } = this.#dependencies;
    if (host.isSeen()) {
      if (this.view.state.unread > 0) this.view.change({ unread: 0 });
      this.#recovery.now();
      if (this.view.state.isOriginRefused) this.learn();
    }
    this.#followed?.check();
  }

  /** The browser went offline, or came back. */
  connectionChanged(): void {
    this.#run.tell({ type: "connection.changed" });
    if (!navigator.onLine) return;
    this.#recovery.now();
    if (this.#dependencies.host.isSeen()) this.learn();
    this.#followed?.renew();
  }

  /** The page was suspended and is back. */
  async wokenUp(): Promise<void> {
    this.#followed?.renew();
    await this.refresh();
  }

  /** Another tab wrote to the shared storage. */
  async storageChanged(event: StorageEvent): Promise<void> {
    const { sharedStorage } = this.#dependencies;
    if (this.#starting === null || this.view.isRunning) return;
    const isVisitor = sharedStorage.owns(event, "visitor");
    if (isVisitor && this.visitor.isUnknown) {
      this.#run.tell({ type: "run.left" });
      this.visitor.forgetTab();
      this.#forgetThread();
    } else if (this.#isThreadGone && this.visitor.threadId === null) return;
    else if (sharedStorage.owns(event, "seen")) this.#followed?.recount();
    else if (sharedStorage.owns(event, "turn") && this.#followed?.isLive === true) return;
    else if (["visitor", "turn", "unsent"].some((name) => sharedStorage.owns(event, name)))
      await this.refresh();
  }

  /** The page's tools changed: posts them while the agent is at work. Otherwise the next message does. */
  async toolsChanged(): Promise<void> {
    if (!this.#run.isOwn || this.visitor.threadId === null) return;
    const part = await this.#dependencies.host.toolPart();
    await part?.postCatalog(this.#dependencies, await this.visitor.thread()).catch(warnOwner);
  }

  async #sendQueued(): Promise<void> {
    const { isQueued, draft, phase, messages } = this.view.state;
    if (!isQueued || isRunning(phase)) return;
    // Promised for after the answer: it waits for the Retry of one that broke off.
    if (phase === "error" && (messages.at(-1)?.problem?.retry ?? null) !== null) return;
    const isOver = phase === "idle" || phase === "error";
    this.view.change({ isQueued: false });
    if (isOver) await this.sendDraft(draft.trim(), this.#dependencies.host.customerContext());
  }

  async #send(message: OutgoingMessage, isRepeat: boolean): Promise<void> {
    await this.#sent(await this.#run.send(message, isRepeat));
  }

  async #sent(isOurs: boolean): Promise<void> {
    // Another tab sends it; this one shows the result.
    if (!isOurs) await this.refresh();
    // Until the visitor may talk again.
    if (this.view.state.phase === "blocked") this.#recovery.failed(0);
  }

  async #recover(): Promise<void> {
    const { view, visitor } = this;
    if (view.state.isOriginRefused) return this.learn();
    if (view.state.phase !== "blocked" || visitor.threadId !== null) return await this.reload();
    // The first message was refused, so there is no history to load as a check. The message itself says why, and the
    // visitor sends it again.
    let visitorToken: string | null = null;
    try {
      visitorToken = await visitor.token();
      await readThreads(this.#dependencies.api, visitorToken, { limit: 1 });
      if (!view.isRunning) this.#isLoaded();
    } catch (error) {
      visitor.forgetUnknown(error, visitorToken);
      if (!view.isRunning) this.#recovery.failed(busySeconds(error));
    }
  }

  #isLoaded(): void {
    this.#recovery.succeeded();
    if (this.view.state.notice?.retry === true) this.view.change({ notice: null });
    this.#run.tell({ type: "history.shown" });
    this.#followed?.recount();
    this.#followed?.check();
  }

  /**
   * If this browser has a visitor but no conversation, enters the account's latest one: after a sign-in, or on another
   * device.
   */
  async #enterLatest(): Promise<void> {
    const { visitor } = this;
    if (visitor.isUnknown || visitor.threadId !== null || visitor.isBeginning) return;
    const visitorToken = await visitor.token();
    try {
      const { items } = await readThreads(this.#dependencies.api, visitorToken, { limit: 1 });
      const latest = items[0];
      if (latest !== undefined && visitor.threadId === null) visitor.enterThread(latest.threadId);
    } catch (error) {
      if (!visitor.forgetUnknown(error, visitorToken)) throw error;
    }
  }

  /** If the last message has no reply yet, follows its run, which may be active in another tab or in none. */
  async #attachIfUnanswered(thread: ThreadAccess): Promise<void> {
    const { messages } = this.view.state;
    const isUnanswered =
      messages.findLast(({ problem }) => problem === null || problem.isTold)?.role === "user";
    // Not with a closed panel: nobody reads it, and the page must be free to send.
    const isReader = this.#dependencies.host.isSeen();
    if (isUnanswered && isReader && !this.view.isRunning) await this.#run.watch(thread, null, "history");
  }

  /** Shows a failure instead of throwing it, because no caller awaits it. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#run.tell({ type: "load.failed", fault: faultOf(this.view, error, null) });
    }
  }

  #forgetThread(): void {
    const { tabStorage, sharedStorage } = this.#dependencies;
    this.#run.forgetAllowed();
    this.#isThreadGone = false;
    this.#starting = null;
    tabStorage.write("run", null);
    tabStorage.write("draft", null);
    sharedStorage.write("catalog", null);
    dropAllUnsent(sharedStorage);
    this.view.clear();
    this.#followed?.leave();
  }
}
