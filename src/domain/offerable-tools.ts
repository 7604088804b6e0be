import type { PageTool } from "./page-tool.ts";

/** A model's API takes so many tools in one request, `task_failed` among them; an MCP server's come first. */
export const MAX_TOOLS = 128;

/** Deeper JSON could not be written down again by everything that a catalog passes through. */
const MAX_TOOL_DEPTH = 512;

export interface OfferableTools {
  tools: PageTool[];
  /** Names of what can never be offered: too deep, of a name that came before, or more than a model takes. */
  dropped: string[];
  /** Characters that what is too deep has at least, as JSON. */
  droppedChars: number;
}

/** What of a page's catalog can be offered to a model. */
export function offerableTools(catalog: readonly PageTool[]): OfferableTools {
  const names = new Set<string>();
  const offerable: OfferableTools = { tools: [], dropped: [], droppedChars: 0 };
  for (const tool of catalog) {
    const depth = depthOf(tool);
    if (depth > MAX_TOOL_DEPTH) offerable.droppedChars += 2 * depth;
    if (depth > MAX_TOOL_DEPTH || names.has(tool.name) || names.size === MAX_TOOLS - 1) {
      offerable.dropped.push(tool.name);
    } else {
      names.add(tool.name);
      offerable.tools.push(tool);
    }
  }
  return offerable;
}

/** Walks level by level: recursion could overflow the call stack. */
function depthOf(value: unknown): number {
  let level = [value];
  for (let depth = 0; ; depth++) {
    const objects = level.filter((part): part is object => typeof part === "object" && part !== null);
    if (objects.length === 0) return depth;
    level = objects.flatMap((part): unknown[] => Object.values(part));
  }
}
