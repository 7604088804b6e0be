import type { ToolShape } from "./tool.ts";

/**
 * WebMCP in the browser, in MCP-B's polyfill and in Google's (2026). All list tools with getTools(); they differ in
 * what executeTool() takes.
 */
export interface ModelContext extends EventTarget {
  getTools?: () => Promise<RegisteredTool[]>;
  executeTool?: (tool: RegisteredTool, input: unknown, options: { signal: AbortSignal }) => Promise<unknown>;
  /** Firefox. */
  invokeTool?: (name: string, input: unknown) => Promise<unknown>;
}

export interface RegisteredTool extends ToolShape {
  window?: unknown;
}

export function modelContext(): ModelContext | null {
  const { modelContext: ofDocument } = document as { modelContext?: ModelContext };
  const { modelContext: ofNavigator } = navigator as { modelContext?: ModelContext };
  return ofDocument ?? ofNavigator ?? null;
}
