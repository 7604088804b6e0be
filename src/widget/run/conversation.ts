import type { CustomerContext } from "../service/customer-context.ts";
import { tryWithTabLock } from "../service/tab-lock.ts";
import { VisitorSession } from "../service/visitor-session.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import { postCatalog } from "../tools/post-catalog.ts";
import { ViewModel } from "../view/view-model.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import { newMessage } from "./outgoing-message.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import { retry } from "./retry.ts";
import { isStale, lockNameOf, readSavedRun } from "./saved-run.ts";
import type { SavedRun } from "./saved-run.ts";
import { showFailure } from "./show-failure.ts";
import { TabRun } from "./tab-run.ts";
import { Transcript } from "./transcript.ts";
import { dropAllUnsent, keepUnsent } from "./unsent-messages.ts";
import { writeDraft } from "./write-draft.ts";

export interface ConversationOptions extends Omit<ConversationDependencies, "visitor" | "view"> {
  publishableKey: string;
}

/** One visitor's conversation in this tab: what the visitor and the page can do with it. */
export class Conversation {
  readonly visitor: VisitorSession;
  readonly view: ViewModel;
  readonly #dependencies: ConversationDependencies;
  readonly #transcript: Transcript;
  readonly #run: TabRun;
  /** null until catalog and history are asked for, and after a failure. */
  #starting: Promise<void> | null = null;

  constructor({ publishableKey, ...options }: ConversationOptions) {
    const { api, sharedStorage, tabStorage, lockPrefix, host } = options;
    this.visitor = new VisitorSession({
      api,
      publishableKey,
      storage: sharedStorage,
      lockName: `${lockPrefix}visitor`,
      onVisitor: (expiresAt) => host.emit("visitor", { expiresAt }),
      onThread: (threadId) => host.emit("thread", { threadId }),
    });
    const draft = tabStorage.read("draft");
    this.view = new ViewModel(typeof draft === "string" ? draft : "", (now, before) => {
      host.redraw();
      if (now.phase !== before.phase) host.emit("state", { state: now.phase });
      if (now.unread !== before.unread) host.emit("unread", { count: now.unread });
    });
    this.#dependencies = { ...options, visitor: this.visitor, view: this.view };
    this.#transcript = new Transcript(this.#dependencies, () => this.#forgetThread());
    this.#run = new TabRun(this.#dependencies, this.#transcript);
  }

  /** When the panel opens for the first time on this page: visitor, thread, catalog, history. */
  async start(): Promise<void> {
    this.#starting ??= this.#guarded(async () => {
      const current = await this.visitor.inThread(
        async (thread) => {
          await postCatalog(this.#dependencies, thread);
          return thread;
        },
        () => this.#transcript.startOver(),
      );
      await this.#transcript.load(current);
      await this.#attachIfUnanswered(current);
    });
    await this.#starting;
  }

  /**
   * Goes on with the run that this tab saved, on the page before or when it lost the connection: asks for it by its
   * name, or sends its message again where it has none yet. Resolves to false where there is none.
   */
  async resume(): Promise<boolean> {
    const { tabStorage, sharedStorage } = this.#dependencies;
    const saved = readSavedRun(tabStorage);
    if (saved !== null && [null, this.visitor.threadId].includes(saved.threadId)) {
      if (!isStale(saved, Date.now())) {
        if (saved.runId !== undefined) return await this.#goOn(saved);
        await this.#send(saved.message, true);
        return true;
      }
      if (saved.runId === undefined) keepUnsent(sharedStorage, saved.message);
    }
    tabStorage.write("run", null);
    return false;
  }

  /** Resolves when the run has ended in any way; rejects while another one is active. */
  async send(text: string, context: CustomerContext | null): Promise<void> {
    if (text !== "") await this.#send(newMessage(text, context), false);
  }

  /** Repeats what failed: the message with this key, or the last one. */
  async retry(key: string | null = null): Promise<void> {
    await retry(this.#dependencies, key, {
      send: (message, isRepeat) => this.#send(message, isRepeat),
      resume: () => this.resume(),
      listen: () => this.#guarded(async () => this.#run.attach(await this.visitor.thread(), null)),
      start: () => this.start(),
    });
  }

  /** Stops the active run. The reply so far stays. */
  async stop(): Promise<void> {
    await this.#run.stop();
  }

  async newThread(): Promise<void> {
    await this.stop();
    this.visitor.leaveThread();
    this.#forgetThread();
    await this.start();
  }

  /** Forgets the visitor: token, thread, run and draft. */
  async reset(): Promise<void> {
    await this.stop();
    this.visitor.forget();
    this.#forgetThread();
  }

  /** Loads the history again, for instance after the visitor was identified. */
  async refresh(): Promise<void> {
    if (this.view.isRunning || this.visitor.threadId === null) return;
    await this.#guarded(async () => {
      const thread = await this.visitor.thread();
      await this.#transcript.reload(thread);
      await this.#attachIfUnanswered(thread);
    });
  }

  async loadEarlier(): Promise<void> {
    await this.#guarded(() => this.#transcript.loadEarlier());
  }

  writeDraft(text: string): void {
    writeDraft(this.#dependencies, text);
  }

  markSeen(): void {
    if (this.view.state.unread > 0) this.view.change({ unread: 0 });
  }

  /** The browser went offline, or came back. */
  connectionChanged(): void {
    if (!this.view.isRunning && this.view.state.phase !== "blocked") this.view.rest();
  }

  /** Another tab wrote to the shared storage. */
  async storageChanged(event: StorageEvent): Promise<void> {
    const { sharedStorage } = this.#dependencies;
    if (this.#starting === null || this.view.isRunning) return;
    const isVisitor = sharedStorage.owns(event, "visitor");
    if (isVisitor && this.visitor.threadId === null) this.#forgetThread();
    else if (["visitor", "turn", "unsent"].some((name) => sharedStorage.owns(event, name)))
      await this.refresh();
  }

  /** The page's tools changed. */
  async toolsChanged(): Promise<void> {
    if (this.#starting === null || this.visitor.threadId === null) return;
    await this.#guarded(async () => postCatalog(this.#dependencies, await this.visitor.thread()));
  }

  async #send(message: OutgoingMessage, isRepeat: boolean): Promise<void> {
    const isOurs = await this.#run.send(message, { isRepeat, started: () => this.start() });
    // Another tab sends it: this one shows what becomes of it.
    if (!isOurs) await this.refresh();
  }

  /** Resolves to false where another tab has the run: this one is its duplicate. */
  async #goOn(saved: SavedRun): Promise<boolean> {
    const { tabStorage, lockPrefix, host } = this.#dependencies;
    this.view.setPhase("streaming");
    this.#starting = Promise.resolve();
    let isOurs = true;
    await this.#guarded(async () => {
      isOurs = await tryWithTabLock(lockNameOf(lockPrefix, saved.message), async () => {
        host.emit("resumed", { tool: saved.call?.tool ?? null, from: saved.from ?? null });
        if (saved.call !== undefined) this.view.notify(host.strings().resumed, false);
        const thread = await this.visitor.thread();
        await this.#transcript.reload(thread);
        // The service may not know the visitor any more.
        if (this.visitor.threadId !== thread.threadId) return this.view.rest();
        this.#transcript.endWith(saved.message);
        await this.#run.attach(thread, saved);
      });
    });
    if (isOurs) return true;
    tabStorage.write("run", null);
    this.#starting = null;
    this.view.rest();
    return false;
  }

  /** The last message has no reply yet: its run is active in another tab, or in none. */
  async #attachIfUnanswered(thread: ThreadAccess): Promise<void> {
    const { messages } = this.view.state;
    const isUnanswered = messages.findLast(({ problem }) => problem === null)?.role === "user";
    if (isUnanswered && !this.view.isRunning) await this.#run.attach(thread, null);
  }

  /** Shows a failure instead of throwing it: no caller waits for it. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#starting = null;
      this.view.rest();
      showFailure(this.#dependencies, error);
    }
  }

  #forgetThread(): void {
    const { tabStorage, sharedStorage } = this.#dependencies;
    this.#run.forgetAllowed();
    this.#starting = null;
    tabStorage.write("run", null);
    tabStorage.write("draft", null);
    sharedStorage.write("catalog", null);
    dropAllUnsent(sharedStorage);
    this.view.clear();
  }
}
