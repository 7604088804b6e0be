import type { TabEvent } from "../../../../machines/tab-events.ts";
import type { ToolCallLine } from "../../../protocol/lines.ts";
import { currentPage } from "../../service/current-page.ts";
import { pageSettled } from "../../tools/page-settled.ts";
import { performCall } from "../../tools/perform-call.ts";
import { postCatalog } from "../../tools/post-catalog.ts";
import { isEmpty, openedPageResult } from "../../tools/tool-result.ts";
import type { Tool } from "../../tools/tool.ts";
import { confirmCall } from "./confirm-call.ts";
import type { CalledTool, ToolRun } from "./tool-part.ts";
import { warnOwner } from "../warn-owner.ts";

/** Has the page's tool called, if it may be. */
export async function callTool(run: ToolRun, call: ToolCallLine): Promise<TabEvent> {
  const { host, signal } = run;
  const named = { callId: call.callId, tool: call.tool };
  const result = await performCall(call, {
    tools: await toolsWith(call.tool, host),
    timeoutMs: host.toolTimeoutMs(),
    signal,
    isAllowed: (tool) => confirmCall({ ...run, tool, call }),
    onStart: ({ waitsForForm }) => run.happened({ type: "tool.started", page: currentPage(), waitsForForm }),
    onReturn: (returned) => {
      // Saved at once: the page may have milliseconds left.
      if (!isEmpty(returned)) run.happened({ type: "tool.returned", body: { ...named, ...returned } });
      host.emit("tool-result", { tool: call.tool, ...returned });
    },
  });
  return { type: "tool.answered", body: { ...named, ...result } };
}

/** A page that has just loaded may register the tool a moment later. */
async function toolsWith(name: string, host: ToolRun["host"]): Promise<Tool[]> {
  const tools = await host.tools();
  if (tools.some((tool) => tool.name === name)) return tools;
  await pageSettled();
  return await host.tools();
}

/**
 * Posts the page's tools, which the called one may have changed, once they are settled. `isAgain`: the tool was started
 * before, on this page or the one before.
 */
export async function settle(
  run: ToolRun,
  { callId, tool }: CalledTool,
  isAgain: boolean,
): Promise<TabEvent> {
  await (isAgain ? pageSettled() : run.host.toolsSettled());
  if (run.thread !== null) await postCatalog(run, run.thread).catch(warnOwner);
  return { type: "page.settled", body: { callId, tool, ...openedPageResult() } };
}
