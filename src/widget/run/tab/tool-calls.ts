import type { ToolCallLine } from "../../../../machines/line.ts";
import { currentPage } from "../../service/current-page.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import { pageSettled } from "../../tools/page-settled.ts";
import { performCall } from "../../tools/perform-call.ts";
import { postCatalog } from "../../tools/post-catalog.ts";
import { isEmpty, openedPageResult } from "../../tools/tool-result.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolResultBody } from "../../tools/tool-result.ts";
import { confirmCall } from "./confirm-call.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import type { SavedRun } from "./saved-run.ts";
import { warnOwner } from "../warn-owner.ts";

interface OwnRun extends ConversationDependencies {
  thread: ThreadAccess;
  signal: AbortSignal;
  /** Tools that the visitor allowed for this conversation. */
  allowed: Set<string>;
}

/**
 * Answers the tool calls of a run that this tab started. The run is saved before each step that could leave the page,
 * so that the next page knows where it stands.
 */
export class ToolCalls {
  readonly #run: OwnRun;
  #saved: SavedRun;

  constructor(run: OwnRun, saved: SavedRun) {
    this.#run = run;
    this.#saved = saved;
  }

  get message(): OutgoingMessage {
    return this.#saved.message;
  }

  /** The stream has begun: the next page can ask for the run by its id. */
  told(runId: string): void {
    if (this.#saved.runId !== runId) this.#save({ runId });
  }

  async answer(call: ToolCallLine): Promise<ToolResultBody> {
    return (await this.#earlierAnswer(call)) ?? (await this.#perform(call));
  }

  /** The answer for a tool that was already started, on this page or the previous one: it does not run again. */
  async #earlierAnswer({ callId, tool }: ToolCallLine): Promise<ToolResultBody | null> {
    const { call, phase, body } = this.#saved;
    if (call?.callId !== callId || phase === "asking") return null;
    await pageSettled();
    await postCatalog(this.#run, this.#run.thread);
    if (body !== undefined) return body;
    const opened = { callId, tool, ...openedPageResult() };
    this.#save({ phase: "answered", body: opened });
    return opened;
  }

  /** A page that has just loaded may register the tool a moment later. */
  async #toolsWith(name: string): Promise<Tool[]> {
    const { host } = this.#run;
    const tools = await host.tools();
    if (tools.some((tool) => tool.name === name)) return tools;
    await pageSettled();
    return await host.tools();
  }

  async #perform(call: ToolCallLine): Promise<ToolResultBody> {
    const { host, view, signal } = this.#run;
    const named = { callId: call.callId, tool: call.tool };
    this.#save({ phase: "asking", call: named, body: undefined });
    view.setPhase("tool");
    const result = await performCall(call, {
      tools: await this.#toolsWith(call.tool),
      timeoutMs: host.toolTimeoutMs(),
      signal,
      isAllowed: (tool) => confirmCall({ ...this.#run, tool, call }),
      onStart: (tool) => {
        this.#save({ phase: "executing", from: currentPage() });
        if (!tool.waitsForForm) return;
        view.setPhase("waiting-user");
        view.notify(host.strings().formWaits, true);
      },
      onReturn: (returned) => {
        // Saved at once: the page may have milliseconds left. An empty result is not: the next page can say more.
        if (!isEmpty(returned)) this.#save({ phase: "answered", body: { ...named, ...returned } });
        host.emit("tool-result", { tool: call.tool, ...returned });
      },
    });
    const body = { ...named, ...result };
    this.#save({ phase: "answered", body });
    view.change({ notice: null });
    // The tool may have changed what the page offers.
    await host.toolsSettled();
    await postCatalog(this.#run, this.#run.thread).catch(warnOwner);
    return body;
  }

  #save(change: Partial<SavedRun>): void {
    this.#saved = { ...this.#saved, ...change, atMs: Date.now() };
    this.#run.tabStorage.write("run", this.#saved);
  }
}
