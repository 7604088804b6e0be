import { printable, printableArguments } from "../../../client/core/printable.ts";
import type { ToolCallLine } from "../../../../machines/line.ts";
import { asksFirst } from "../../tools/asks-first.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Consent } from "../../view/view-state.ts";
import type { ToolRun } from "./tool-part.ts";

interface ConfirmOptions extends Pick<ToolRun, "view" | "host" | "allowed"> {
  tool: Tool;
  call: ToolCallLine;
}

/** Resolves to true if the call may run: the page can prevent it, and the visitor is asked if confirm-tools says so. */
export async function confirmCall(options: ConfirmOptions): Promise<boolean> {
  const { host, tool, call } = options;
  const annotations = tool.annotations ?? {};
  if (!host.emit("before-tool", { tool: tool.name, arguments: call.arguments, annotations })) return false;
  return !asksFirst(annotations, host.confirmTools()) || (await askVisitor(options)) !== "decline";
}

async function askVisitor({ view, tool, call, allowed }: ConfirmOptions): Promise<Consent> {
  if (allowed.has(tool.name)) return "allow";
  const consent = await new Promise<Consent>((decide) => {
    // Some browsers turn a missing title into an empty one.
    const title = printable(tool.title || tool.description || tool.name);
    view.change({
      confirmation: { title, arguments: printableArguments(call.arguments), decide },
      announcement: title,
    });
  });
  view.change({ confirmation: null });
  if (consent === "always") allowed.add(tool.name);
  return consent;
}
