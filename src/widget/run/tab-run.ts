import { delay } from "../service/delay.ts";
import type { Place } from "../service/visitor.ts";
import { writeDraft } from "./draft.ts";
import { followRun } from "./follow-run.ts";
import type { Opening } from "./follow-run.ts";
import type { ConversationParts } from "./parts.ts";
import { postMessage } from "./post-message.ts";
import type { OutgoingMessage } from "./post-message.ts";
import { asHolder, newRecord } from "./run-record.ts";
import type { RunRecord } from "./run-record.ts";
import { showEnd, showStopped } from "./show-end.ts";
import { showNotTaken } from "./show-trouble.ts";
import { ShownReply } from "./shown-reply.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { Transcript } from "./transcript.ts";
import { tellOwner } from "./troubles.ts";

/** How long an open stream is given to end by itself after a cancel. */
const LAST_LINE_MS = 1_000;

interface FollowOptions {
  at: Place;
  opening: Opening;
  record: RunRecord | null;
  /** Of the item that shows the reply. */
  key: string;
  signal: AbortSignal;
}

/** The run that this tab is at, one at a time: begun by a message or picked up, followed to its end, stopped. */
export class TabRun {
  readonly #parts: ConversationParts;
  readonly #transcript: Transcript;
  readonly #allowed = new Set<string>();
  /** Of the run under way: what a stop aborts. */
  #controller: AbortController | null = null;

  constructor(parts: ConversationParts, transcript: Transcript) {
    this.#parts = parts;
    this.#transcript = transcript;
  }

  /** Tools that the visitor had allowed ask again. */
  forgetAllowed(): void {
    this.#allowed.clear();
  }

  /**
   * Sends a message, after `started`: when the earlier ones are shown, or cannot be had. Resolves when its run has
   * ended, however it did; rejects while another one is under way.
   */
  async send(message: OutgoingMessage, started: () => Promise<void>): Promise<void> {
    const parts = this.#parts;
    const { board, host, tab, lockName } = parts;
    if (board.isRunning) throw new Error("Cannot send: a reply is under way");
    board.retireProblems();
    const question = board.add("user", message.text);
    const answer = board.add("assistant", "");
    writeDraft(parts, "");
    board.phase("sending");
    host.emit("message", { role: "user", text: message.text });
    const runId = Math.random().toString(36).slice(2);
    const { signal } = (this.#controller = new AbortController());
    try {
      await started();
      board.phase("sending");
      signal.throwIfAborted();
      await asHolder(`${lockName}run:${runId}`, async () => {
        const transcript = this.#transcript;
        const posted = await postMessage({ parts, transcript, message, question, answer, runId, signal });
        const record = newRecord(runId, posted.at.threadId);
        await this.#follow({ ...posted, record, key: answer.key, signal });
      });
    } catch (error) {
      tab.write("run", null);
      if (signal.aborted) showStopped(parts, answer.key);
      else showNotTaken(parts, error, { question, answer });
    } finally {
      this.#controller = null;
    }
  }

  /** Picks up the thread's run. Without a record this tab did not start it: it listens, and runs no tools. */
  async attach(at: Place, record: RunRecord | null): Promise<void> {
    const { signal } = (this.#controller ??= new AbortController());
    const { key } = this.#parts.board.add("assistant", "");
    await this.#follow({ at, opening: { type: "attach" }, record, key, signal });
  }

  /** Stops the run under way; what was said so far stays. */
  async stop(): Promise<void> {
    const controller = this.#controller;
    if (controller === null) return;
    const { service, desk, board } = this.#parts;
    const { phase, question } = board.shown;
    // Its own stream tells that it was cancelled; a tool under way, or a message not yet taken, has none.
    const hasStream = phase === "streaming";
    if (!hasStream) controller.abort(new DOMException("Stopped", "AbortError"));
    question?.decide("decline");
    const { threadId } = desk;
    if (threadId === null) return;
    try {
      await service({
        path: `/threads/${encodeURIComponent(threadId)}/cancel`,
        token: await desk.token(),
      });
      if (hasStream) await delay(LAST_LINE_MS);
    } catch (error) {
      tellOwner(error);
    } finally {
      controller.abort(new DOMException("Stopped", "AbortError"));
    }
  }

  /** Follows the run to its end, and shows how it ended. */
  async #follow({ at, opening, record, key, signal }: FollowOptions): Promise<void> {
    const parts = this.#parts;
    const { board, tab, shelf } = parts;
    const reply = new ShownReply(parts, key);
    const calls =
      record === null ? null : new ToolCalls({ parts, at, signal, allowed: this.#allowed }, record);
    const isListening = opening.type === "attach";
    if (isListening) board.phase("streaming");
    try {
      const end = await followRun({ parts, at, signal, reply, calls }, opening).finally(() => {
        if (record !== null) tab.write("run", null);
      });
      await showEnd({ parts, transcript: this.#transcript, key, reloadAt: isListening ? at : null }, end);
      if (record !== null) shelf.write("turn", Date.now());
    } catch (error) {
      if (!signal.aborted) throw error;
      showStopped(parts, key);
    } finally {
      this.#controller = null;
    }
  }
}
