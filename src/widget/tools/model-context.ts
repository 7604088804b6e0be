import type { ToolShape } from "./tool.ts";

/**
 * WebMCP as pages have it in 2026: the browser's own, MCP-B's polyfill or Google's, through one consumer. All of them
 * list tools with getTools(); they differ in what executeTool() takes.
 */
export interface ModelContext extends EventTarget {
  getTools?: () => Promise<RegisteredTool[]>;
  executeTool?: (tool: RegisteredTool, input: unknown, options: { signal: AbortSignal }) => Promise<unknown>;
  /** Firefox. */
  invokeTool?: (name: string, input: unknown) => Promise<unknown>;
}

export interface RegisteredTool extends Omit<ToolShape, "inputSchema"> {
  inputSchema?: unknown;
  window?: unknown;
}

export function modelContext(): ModelContext | null {
  const { modelContext: ofDocument } = document as { modelContext?: ModelContext };
  const { modelContext: ofNavigator } = navigator as { modelContext?: ModelContext };
  return ofDocument ?? ofNavigator ?? null;
}
