import type { PageTool } from "./page-tool.ts";

/** How many tools a model's API takes in one request, including `task_failed`; those of MCP servers come first. */
export const MAX_TOOLS = 128;

/** Deeper JSON could not be serialized by everything that handles a catalog. */
const MAX_TOOL_DEPTH = 512;

export interface OfferableTools {
  tools: PageTool[];
  /** Names of the tools that cannot be offered: nested too deeply, of a duplicate name, or more than a model takes. */
  dropped: string[];
  /** A lower bound of the JSON characters of tools that are nested too deeply. */
  droppedChars: number;
}

/** The tools of a page's catalog that can be offered to a model. */
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
