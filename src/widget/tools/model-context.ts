import type { ToolShape } from "./tool.ts";

/**
 * WebMCP in the browser, in MCP-B's polyfill and in Google's (2026). All list tools with getTools(); they differ in
 * what executeTool() takes.
 */
export interface ModelContext extends EventTarget {
  registerTool?: (tool: unknown, ...more: unknown[]) => unknown;
  getTools?: () => Promise<RegisteredTool[]>;
  executeTool?: (tool: RegisteredTool, input: unknown, options: { signal: AbortSignal }) => Promise<unknown>;
  /** Firefox. */
  invokeTool?: (name: string, input: unknown) => Promise<unknown>;
}

export interface RegisteredTool extends ToolShape {
  window?: unknown;
}

declare global {
  interface Document {
    modelContext?: ModelContext;
  }
  /** Firefox, and Chromium before July 2026. */
  interface Navigator {
    modelContext?: ModelContext;
  }
}

export function modelContext(): ModelContext | null {
  return document.modelContext ?? navigator.modelContext ?? null;
}
