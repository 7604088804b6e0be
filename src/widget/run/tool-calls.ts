import type { ToolCallLine } from "../../../machines/line.ts";
import { currentPage } from "../service/current-page.ts";
import type { Place } from "../service/visitor.ts";
import { openedPage, pageSettled } from "../tools/opened-page.ts";
import { performCall } from "../tools/perform-call.ts";
import { postCatalog } from "../tools/post-catalog.ts";
import { isEmpty } from "../tools/tool-result.ts";
import type { ResultBody } from "../tools/tool-result.ts";
import { isAllowed } from "./confirm-call.ts";
import type { ConversationParts } from "./parts.ts";
import type { RunRecord } from "./run-record.ts";

interface CallingRun {
  parts: ConversationParts;
  at: Place;
  signal: AbortSignal;
  /** Tools that the visitor has allowed for the conversation. */
  allowed: Set<string>;
}

/**
 * Answers the calls of page tools in a run that this tab started. The record is written before each step that could
 * take the page away, so that the next page finds where the run stands.
 */
export class ToolCalls {
  readonly #run: CallingRun;
  #record: RunRecord;

  constructor(run: CallingRun, record: RunRecord) {
    this.#run = run;
    this.#record = record;
  }

  async answer(call: ToolCallLine): Promise<ResultBody> {
    return (await this.#knownAnswer(call)) ?? (await this.#perform(call));
  }

  /** Answered or started before, here or on the page before: the tool does not run again. */
  async #knownAnswer({ callId, tool }: ToolCallLine): Promise<ResultBody | null> {
    const { call, phase, body } = this.#record;
    if (call?.callId !== callId) return null;
    if (phase !== "executing" && (phase !== "answered" || body === undefined)) return null;
    await pageSettled();
    await postCatalog(this.#run.parts, this.#run.at);
    if (phase === "answered" && body !== undefined) return body;
    const opened = openedPage(callId, tool);
    this.#keep({ phase: "answered", body: opened });
    return opened;
  }

  async #perform(call: ToolCallLine): Promise<ResultBody> {
    const { parts, signal, allowed } = this.#run;
    const { host, board } = parts;
    const named = { callId: call.callId, tool: call.tool };
    this.#keep({ phase: "asking", call: named });
    board.phase("tool");
    const result = await performCall(call, {
      tools: await host.tools(),
      timeoutMs: host.toolTimeoutMs(),
      signal,
      isAllowed: (tool) => isAllowed({ host, board, allowed }, tool, call),
      onStart: (tool) => {
        this.#keep({ phase: "executing", from: currentPage() });
        if (!tool.waitsForForm) return;
        board.phase("waiting-user");
        board.tell(host.strings().formWaits, true);
      },
      onReturn: (result) => {
        // A text is kept at once: the page may have milliseconds left. Of an empty result the next page can say more.
        if (!isEmpty(result)) this.#keep({ phase: "answered", body: { ...named, ...result } });
        host.emit("tool-result", { tool: call.tool, ...result });
      },
    });
    const body = { ...named, ...result };
    this.#keep({ phase: "answered", body });
    board.change({ notice: null });
    return body;
  }

  #keep(change: Partial<RunRecord>): void {
    this.#record = { ...this.#record, ...change, atMs: Date.now() };
    this.#run.parts.tab.write("run", this.#record);
  }
}
