import { delay } from "../service/delay.ts";
import { tryWithTabLock } from "../service/tab-lock.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import { followRun } from "./follow-run.ts";
import { postMessage } from "./post-message.ts";
import type { OutgoingMessage, PostedMessage } from "./post-message.ts";
import { newSavedRun } from "./saved-run.ts";
import type { SavedRun } from "./saved-run.ts";
import { showEnd, showStopped } from "./show-end.ts";
import { showUndelivered } from "./show-failure.ts";
import { ShownReply } from "./shown-reply.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { Transcript } from "./transcript.ts";
import { warnOwner } from "./warn-owner.ts";
import { writeDraft } from "./write-draft.ts";

/** How long a stream may take to end by itself after a cancel. */
const LAST_LINE_MS = 1_000;

interface FollowOptions extends PostedMessage {
  /** null: this tab did not start the run; it only listens, and runs no tools. */
  saved: SavedRun | null;
  /** Of the reply. */
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

  constructor(dependencies: ConversationDependencies, transcript: Transcript) {
    this.#dependencies = dependencies;
    this.#transcript = transcript;
  }

  /** Tools that the visitor allowed ask again. */
  forgetAllowed(): void {
    this.#allowed.clear();
  }

  /** Shows a message, sends it once `started` resolves, and follows its run. Resolves when that has ended in any way. */
  async send(message: OutgoingMessage, started: () => Promise<void>): Promise<void> {
    const dependencies = this.#dependencies;
    const { view, host, tabStorage, lockPrefix } = dependencies;
    if (view.isRunning) throw new Error("Cannot send: a reply is under way");
    view.removeRetries();
    const sent = view.add("user", message.text);
    const reply = view.add("assistant", "");
    writeDraft(dependencies, "");
    view.setPhase("sending");
    host.emit("message", { role: "user", text: message.text });
    const runId = Math.random().toString(36).slice(2);
    const { signal } = (this.#controller = new AbortController());
    try {
      await started();
      view.setPhase("sending");
      signal.throwIfAborted();
      await tryWithTabLock(`${lockPrefix}run:${runId}`, async () => {
        const transcript = this.#transcript;
        const posted = await postMessage({
          ...dependencies,
          transcript,
          message,
          sent,
          reply,
          runId,
          signal,
        });
        const saved = newSavedRun(runId, posted.thread.threadId);
        await this.#follow({ ...posted, saved, key: reply.key, signal });
      });
    } catch (error) {
      tabStorage.write("run", null);
      if (signal.aborted) showStopped(dependencies, reply.key);
      else showUndelivered(dependencies, error, { sent, reply });
    } finally {
      this.#controller = null;
    }
  }

  /** Follows the thread's run. `saved` is null where this tab did not start it. */
  async attach(thread: ThreadAccess, saved: SavedRun | null): Promise<void> {
    const { signal } = (this.#controller ??= new AbortController());
    const { key } = this.#dependencies.view.add("assistant", "");
    await this.#follow({ thread, opening: { type: "attach" }, saved, key, signal });
  }

  /** Stops the active run. The reply so far stays. */
  async stop(): Promise<void> {
    const controller = this.#controller;
    if (controller === null) return;
    const { api, visitor, view } = this.#dependencies;
    const { phase, confirmation } = view.state;
    // An open stream reports the cancel itself. A running tool, or a message that is being sent, has none.
    const hasStream = phase === "streaming";
    const abort = () => controller.abort(new DOMException("Stopped", "AbortError"));
    if (!hasStream) abort();
    confirmation?.decide("decline");
    const { threadId } = visitor;
    if (threadId === null) return;
    try {
      const path = `/threads/${encodeURIComponent(threadId)}/cancel`;
      await api({ path, visitorToken: await visitor.token() });
      if (hasStream) await delay(LAST_LINE_MS);
    } catch (error) {
      warnOwner(error);
    } finally {
      abort();
    }
  }

  /** Follows the run to its end, and shows how it ended. */
  async #follow({ thread, opening, saved, key, signal }: FollowOptions): Promise<void> {
    const dependencies = this.#dependencies;
    const { view, tabStorage, sharedStorage } = dependencies;
    const reply = new ShownReply(dependencies, key);
    const run = { ...dependencies, thread, signal };
    const calls = saved === null ? null : new ToolCalls({ ...run, allowed: this.#allowed }, saved);
    const reloadFrom = opening.type === "attach" ? thread : null;
    if (reloadFrom !== null) view.setPhase("streaming");
    try {
      const end = await followRun({ ...run, reply, calls }, opening).finally(() => {
        if (saved !== null) tabStorage.write("run", null);
      });
      await showEnd({ ...dependencies, transcript: this.#transcript, key, reloadFrom }, end);
      // Other tabs reload the history.
      if (saved !== null) sharedStorage.write("turn", Date.now());
    } catch (error) {
      if (!signal.aborted) throw error;
      showStopped(dependencies, key);
    } finally {
      this.#controller = null;
    }
  }
}
