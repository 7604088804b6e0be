import { carryRun } from "./carry-run.ts";
import { postCatalog } from "../tools/post-catalog.ts";
import type { Opening, RunEnd } from "./follow-run.ts";
import type { ConversationParts } from "./parts.ts";
import type { RunRecord } from "./run-record.ts";
import type { Transcript } from "./transcript.ts";
import { problemOf, tellOwner } from "./troubles.ts";
import type { Place } from "../service/visitor.ts";

/** How long an open stream is given to end by itself after a cancel. */
const LAST_LINE_MS = 1_000;

/** The run that this tab is at, one at a time: carried to its end, stopped, and how it ended shown. */
export class TabRun {
  readonly #parts: ConversationParts;
  readonly #transcript: Transcript;
  readonly #allowed = new Set<string>();
  #open: AbortController | null = null;

  constructor(parts: ConversationParts, transcript: Transcript) {
    this.#parts = parts;
    this.#transcript = transcript;
  }

  /** A message is on its way; the signal is that of a stop. */
  begin(): AbortSignal {
    this.#open = new AbortController();
    return this.#open.signal;
  }

  end(): void {
    this.#open = null;
  }

  /** Tools that the visitor had allowed ask again. */
  forgetAllowed(): void {
    this.#allowed.clear();
  }

  /** Follows a run to its end and shows how it ended. Without a record this tab only listens, and runs no tools. */
  async carry(at: Place, record: RunRecord | null, opening: Opening, shownIn?: string): Promise<void> {
    const { service, board, host, tab, shelf } = this.#parts;
    const { signal } = (this.#open ??= new AbortController());
    const item = shownIn ?? board.add("assistant", "").key;
    if (opening.type === "attach") board.phase("streaming");
    try {
      const end = await carryRun({
        service,
        at,
        host,
        board,
        tab,
        record,
        opening,
        item,
        signal,
        allowed: this.#allowed,
        postCatalog: () => postCatalog(this.#parts, at),
      });
      await this.#ended(end, item, opening.type === "attach" ? at : null);
      if (record !== null) shelf.write("turn", Date.now());
    } catch (error) {
      if (!signal.aborted) throw error;
      this.showStopped(item);
    } finally {
      this.end();
    }
  }

  /** Stops the run under way; what was said so far stays. */
  async stop(): Promise<void> {
    const run = this.#open;
    if (run === null) return;
    const { service, desk, board } = this.#parts;
    const { phase, question } = board.shown;
    // Its own stream tells that it was cancelled; a tool under way, or a message not yet taken, has none.
    const hasStream = phase === "streaming";
    if (!hasStream) run.abort(new DOMException("Stopped", "AbortError"));
    question?.decide("decline");
    const { threadId } = desk;
    if (threadId === null) return;
    try {
      await service({
        path: `/threads/${encodeURIComponent(threadId)}/cancel`,
        token: await desk.token(),
      });
      if (hasStream) await new Promise((resolve) => setTimeout(resolve, LAST_LINE_MS));
    } catch (error) {
      tellOwner(error);
    } finally {
      run.abort(new DOMException("Stopped", "AbortError"));
    }
  }

  /** Where no line of a stream tells it. */
  showStopped(item: string): void {
    const { board, host } = this.#parts;
    board.fail(item, { text: host.strings().stopped, retry: null });
    host.emit("error", { code: "cancelled", message: "The run was stopped" });
  }

  /** `reloadAt`: what was only listened to may stand in the history by now, and then comes from there. */
  async #ended(end: RunEnd, item: string, reloadAt: Place | null): Promise<void> {
    const { board, host } = this.#parts;
    const text = board.item(item)?.text ?? "";
    board.settle(item);
    let shownIn = item;
    if (reloadAt !== null && (end.type === "done" || end.type === "error" || end.type === "none")) {
      await this.#transcript.reload(reloadAt);
      shownIn = board.shown.items.at(-1)?.key ?? item;
    }
    switch (end.type) {
      case "done":
        board.change({ spoken: text.slice(0, 600) });
        board.rest();
        if (!host.isSeen()) board.countUnread();
        host.emit("message", { role: "assistant", text });
        host.emit("done", end);
        return;
      case "error": {
        if (board.item(shownIn)?.role !== "assistant") shownIn = board.add("assistant", "").key;
        board.fail(shownIn, problemOf(end, host.strings()));
        if (!host.isSeen()) board.countUnread();
        const { type: _type, ...error } = end;
        host.emit("error", error);
        return;
      }
      case "none":
      case "elsewhere":
        board.rest();
        return;
      case "lost":
        if (board.item(item) === null) shownIn = board.add("assistant", "").key;
        board.fail(shownIn, { text: host.strings().cut, retry: "attach" });
        tellOwner(end.cause);
        host.emit("error", { message: "The connection to the run is lost" });
    }
  }
}
