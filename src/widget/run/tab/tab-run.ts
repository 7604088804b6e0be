import { delay } from "../../service/delay.ts";
import { tryWithTabLock } from "../../service/tab-lock.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { followRun } from "./follow-run.ts";
import type { StreamOpening } from "./follow-run.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import { postMessage } from "./post-message.ts";
import { dropSavedRun, lockNameOf, newSavedRun } from "./saved-run.ts";
import type { SavedRun } from "./saved-run.ts";
import { showEnd, showLost, showStopped } from "./show-end.ts";
import { showUndelivered } from "./show-failure.ts";
import { ShownReply } from "./shown-reply.ts";
import { noteSpoken } from "../messages/spoken-lately.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { Transcript } from "../messages/transcript.ts";
import { dropAllUnsent, dropUnsent, keepUnsent } from "../messages/unsent-messages.ts";
import { warnOwner } from "../warn-owner.ts";
import { writeDraft } from "../write-draft.ts";

/** Abort reason when the tab leaves a run, which is not reported. */
const LEFT = new DOMException("Left", "AbortError");

/** How long a stream may take to end by itself after a cancel. */
const LAST_LINE_MS = 1_000;

interface SendOptions {
  /** Sent before: the service may have stored it. */
  isRepeat: boolean;
  /** Resolves when the message may be sent. */
  started: () => Promise<void>;
}

interface FollowOptions {
  thread: ThreadAccess;
  opening: StreamOpening;
  /** null: this tab did not start the run; it only listens, and runs no tools. */
  saved: SavedRun | null;
  /**
   * Where the reply comes from if the history has it by the end: the reloaded history, or the feed; null: the reply was
   * seen from its beginning.
   */
  after: "history" | "feed" | null;
  /** The reply's key. */
  key: string;
  signal: AbortSignal;
}

/** The active run of this tab, one at a time: started by a message or attached to, followed to its end, stopped. */
export class TabRun {
  readonly #dependencies: ConversationDependencies;
  readonly #transcript: Transcript;
  readonly #allowed = new Set<string>();
  /** null while no run is active. */
  #controller: AbortController | null = null;
  #isOwn = false;
  /** The active run's id; undefined until a stream has told it. */
  #runId: string | undefined;
  /** The active or last run, and whether it has ended. */
  #named: { runId: string; hasEnded: boolean } | null = null;

  constructor(dependencies: ConversationDependencies, transcript: Transcript) {
    this.#dependencies = dependencies;
    this.#transcript = transcript;
  }

  /** A message of this tab began the active run. */
  get isOwn(): boolean {
    return this.#controller !== null && this.#isOwn;
  }

  /** This run is followed, or was. */
  knows(runId: string): boolean {
    return this.#named?.runId === runId;
  }

  /** This run was followed to its end. */
  hasSeenEndOf(runId: string): boolean {
    return this.#named?.runId === runId && this.#named.hasEnded;
  }

  /** Tools that the visitor has allowed will ask again. */
  forgetAllowed(): void {
    this.#allowed.clear();
  }

  /**
   * Shows a message, sends it, and follows its run. Resolves when the run has ended, well or badly; to false if another
   * tab sends the same message.
   */
  async send(message: OutgoingMessage, { isRepeat, started }: SendOptions): Promise<boolean> {
    const dependencies = this.#dependencies;
    const { view, visitor, tabStorage, sharedStorage, lockPrefix } = dependencies;
    if (view.isRunning) throw new Error("Cannot send: a reply is under way");
    view.removeRetries(isRepeat);
    const { sent, reply } = view.addSent(message);
    view.setPhase("sending");
    tabStorage.write("run", newSavedRun(message, visitor.threadId));
    if (!isRepeat) this.#saidNew(message);
    const { signal } = this.#begin(true);
    try {
      await started();
      view.setPhase("sending");
      signal.throwIfAborted();
      const isOurs = await tryWithTabLock(lockNameOf(lockPrefix, message), async () => {
        const transcript = this.#transcript;
        const posted = await postMessage({ ...dependencies, transcript, message, isRepeat, signal });
        dropUnsent(sharedStorage, message);
        const { thread, response } = posted;
        const opening = { type: "answer", response } as const;
        const saved = newSavedRun(message, thread.threadId);
        const after = isRepeat ? "history" : null;
        await this.#follow({ thread, opening, saved, after, key: reply.key, signal });
      });
      if (isOurs) return true;
      // It counts as unsent until that tab has an answer, or the history has the message.
      keepUnsent(sharedStorage, message);
      dropSavedRun(tabStorage, message);
      view.remove(sent.key, reply.key);
      view.rest();
      return false;
    } catch (error) {
      // A run whose message has arrived in the feed continues: it stays saved, for a Retry or the next page.
      const isLost = !signal.aborted && view.hasArrived(sent.key);
      if (!isLost) dropSavedRun(tabStorage, message);
      if (signal.reason === LEFT) return true;
      if (signal.aborted) showStopped(dependencies, reply.key);
      else if (isLost) showLost(dependencies, reply.key, error);
      else showUndelivered(dependencies, error, { message, sent, reply });
      return true;
    } finally {
      this.#end(signal);
    }
  }

  /**
   * Follows a run: the saved one by its id, which a message of this tab began; without one, the thread's active or last
   * run.
   */
  async attach(thread: ThreadAccess, saved: SavedRun | null): Promise<void> {
    const { view } = this.#dependencies;
    const { key } = saved === null ? view.addReply() : view.addSent(saved.message).reply;
    await this.#attach({ thread, runId: saved?.runId ?? null, saved, after: "history", key });
  }

  /** Follows a run that the feed reported, without running its tools. This tab may have followed it before. */
  async listen(thread: ThreadAccess, runId: string): Promise<void> {
    const { view } = this.#dependencies;
    const last = view.state.messages.at(-1);
    const isBegun = last?.role === "assistant" && last.id === null && this.#named?.runId === runId;
    const { key } = isBegun ? last : view.addReply();
    await this.#attach({ thread, runId, saved: null, after: "feed", key });
  }

  async #attach(run: Omit<FollowOptions, "opening" | "signal"> & { runId: string | null }): Promise<void> {
    const { runId, ...options } = run;
    const { signal } = this.#begin(options.saved !== null);
    this.#dependencies.view.setPhase("streaming");
    await this.#follow({ ...options, opening: { type: "attach", runId }, signal });
  }

  /** Stops following the active run, which continues. */
  leave(): void {
    this.#controller?.abort(LEFT);
    this.#controller = null;
    this.#dependencies.view.state.confirmation?.decide("decline");
  }

  /** Stops the active run. The reply so far stays. */
  async stop(): Promise<void> {
    const controller = this.#controller;
    if (controller === null) return;
    const { api, visitor, view } = this.#dependencies;
    const { phase, confirmation } = view.state;
    // An open stream reports the cancel itself; a running tool or a message that is being sent has no stream.
    const hasStream = phase === "streaming";
    const abort = () => controller.abort(new DOMException("Stopped", "AbortError"));
    if (!hasStream) abort();
    confirmation?.decide("decline");
    const { threadId } = visitor;
    if (threadId === null) return;
    try {
      const path = `/threads/${encodeURIComponent(threadId)}/cancel`;
      // A stop that arrives late must not end the next run.
      const body = this.#runId && { runId: this.#runId };
      await api({ path, visitorToken: await visitor.token(), body });
      if (hasStream) await delay(LAST_LINE_MS);
    } catch (error) {
      warnOwner(error);
    } finally {
      abort();
    }
  }

  /** A new message gives up the earlier unsent ones. */
  #saidNew({ text }: OutgoingMessage): void {
    const { host, sharedStorage } = this.#dependencies;
    dropAllUnsent(sharedStorage);
    noteSpoken(sharedStorage);
    writeDraft(this.#dependencies, "");
    host.emit("message", { role: "user", text });
  }

  /** Follows the run to its end, and shows how it ended. */
  async #follow({ thread, opening, saved, after, key, signal }: FollowOptions): Promise<void> {
    const dependencies = this.#dependencies;
    const { tabStorage, sharedStorage } = dependencies;
    const reply = new ShownReply(dependencies, key);
    const run = { ...dependencies, thread, signal };
    const calls = saved === null ? null : new ToolCalls({ ...run, allowed: this.#allowed }, saved);
    try {
      const onNamed = (runId: string) => {
        this.#runId = runId;
        this.#named = { runId, hasEnded: false };
      };
      const end = await followRun({ ...run, reply, calls, onNamed }, opening);
      if (this.#named !== null) this.#named.hasEnded = end.type === "done" || end.type === "error";
      // A lost run stays saved, for a Retry or the next page.
      if (saved !== null && end.type !== "lost") dropSavedRun(tabStorage, saved.message);
      const reloadFrom = after === "history" ? thread : null;
      const isTold = after === "feed";
      await showEnd({ ...dependencies, transcript: this.#transcript, key, reloadFrom, isTold }, end);
      // Other tabs reload the history.
      if (saved !== null) sharedStorage.write("turn", Date.now());
    } catch (error) {
      if (saved !== null) dropSavedRun(tabStorage, saved.message);
      if (signal.reason === LEFT) return;
      if (!signal.aborted) throw error;
      showStopped(dependencies, key);
    } finally {
      this.#end(signal);
    }
  }

  #begin(isOwn: boolean): AbortController {
    this.#isOwn = isOwn;
    this.#runId = undefined;
    return (this.#controller = new AbortController());
  }

  /** Clears the run, unless another one is active by now. */
  #end(signal: AbortSignal): void {
    if (this.#controller?.signal === signal) this.#controller = null;
  }
}
