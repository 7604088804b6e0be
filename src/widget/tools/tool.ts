/** What a tool says of itself; the shape of WebMCP. */
export interface ToolShape {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema?: unknown;
  annotations?: ToolAnnotations | undefined;
}

export interface ToolAnnotations {
  readOnlyHint?: boolean;
  consequentialHint?: boolean;
}

/** A tool that the page gives to the element: `agent.tools = [...]`, or `agent.registerTool(tool)`. */
export interface PropertyTool extends ToolShape {
  execute(args: Record<string, unknown>, options: { signal: AbortSignal }): unknown;
}

/** A tool that can be called now, wherever it came from. */
export interface Tool extends ToolShape {
  source: "property" | "page";
  /** True: the call ends when the visitor submits a form. */
  waitsForForm: boolean;
  run(args: Record<string, unknown>, signal: AbortSignal): unknown;
}
