/** A tool definition that a page registers for a thread (the spec, Tool definition). Fields outside this shape are dropped. */
export interface PageTool {
  name: string;
  description?: string;
  inputSchema?: { type: "object"; properties?: Record<string, unknown>; required?: string[] };
}
