import type { ToolCallLine } from "../../../machines/line.ts";
import { asksFirst } from "../tools/asks-first.ts";
import type { Tool } from "../tools/tool.ts";
import type { Board } from "../view/board.ts";
import type { Decision } from "../view/state.ts";
import type { PageHost } from "./page-host.ts";

interface Asking {
  host: PageHost;
  board: Board;
  /** Tools that the visitor has allowed for the conversation. */
  allowed: Set<string>;
}

/** May this call run? The page can prevent it, and the visitor is asked where the element says so. */
export async function isAllowed(asking: Asking, tool: Tool, call: ToolCallLine): Promise<boolean> {
  const { host } = asking;
  const annotations = tool.annotations ?? {};
  const isLet = host.emit("before-tool", { tool: tool.name, arguments: call.arguments, annotations });
  return (
    isLet &&
    (!asksFirst(annotations, host.confirmTools()) || (await ask(asking, tool, call.arguments)) !== "decline")
  );
}

async function ask({ board, allowed }: Asking, tool: Tool, args: Record<string, unknown>): Promise<Decision> {
  if (allowed.has(tool.name)) return "allow";
  const decision = await new Promise<Decision>((decide) => {
    const values = Object.entries(args).map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
    const title = tool.title ?? tool.description ?? tool.name;
    board.change({ question: { title, arguments: values, decide }, spoken: title });
  });
  board.change({ question: null });
  if (decision === "always") allowed.add(tool.name);
  return decision;
}
