import type { ToolCallLine } from "../../../../machines/line.ts";
import type { TabEvent } from "../../../../machines/tab-events.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import type { ConfirmTools } from "../../tools/asks-first.ts";
import type { CatalogDependencies } from "../../tools/post-catalog.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ViewModel } from "../../view/view-model.ts";
import type { ChatAgentEvents } from "../chat-agent-events.ts";

/** What is done with the page's tools: a part of the second file. Without it the page has no tools for the agent. */
export interface ToolPart {
  /** Has the tool called, if it may be: resolves to `tool.answered`. */
  callTool(this: void, run: ToolRun, call: ToolCallLine): Promise<TabEvent>;
  /**
   * Posts the page's tools, which the called one may have changed, once they are settled: resolves to `page.settled`.
   * `isAgain`: the tool was started before, on this page or the one before.
   */
  settle(this: void, run: ToolRun, call: CalledTool, isAgain: boolean): Promise<TabEvent>;
  postCatalog(this: void, dependencies: CatalogDependencies, thread: ThreadAccess): Promise<void>;
}

export interface CalledTool {
  callId: string;
  tool: string;
}

/** What a call needs of the run that it belongs to. */
export interface ToolRun extends CatalogDependencies {
  view: ViewModel;
  host: ToolHost;
  thread: ThreadAccess | null;
  signal: AbortSignal;
  /** Tools that the visitor allowed for this conversation. */
  allowed: Set<string>;
  /** An event while the work goes on; ignored once the run is over for this tab. */
  happened(this: void, event: TabEvent): void;
}

/** What a call needs of the element. */
export interface ToolHost {
  tools(): Promise<Tool[]>;
  /** Resolves when the page's tools have stopped changing. */
  toolsSettled(): Promise<void>;
  confirmTools(): ConfirmTools;
  toolTimeoutMs(): number;
  /** Returns false if a listener prevented the event. */
  emit<Name extends keyof ChatAgentEvents>(name: Name, detail: ChatAgentEvents[Name]): boolean;
}
