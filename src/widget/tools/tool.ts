/** A tool's description, in the shape of WebMCP. */
export interface ToolShape {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema?: unknown;
  annotations?: ToolAnnotations | undefined;
}

export interface ToolAnnotations {
  readOnlyHint?: boolean;
  /** MCP's name and WebMCP's: both make the tool ask first. */
  destructiveHint?: boolean;
  consequentialHint?: boolean;
}

/** A tool that the page gives to the element: `agent.tools = [...]`, or `agent.registerTool(tool)`. */
export interface PropertyTool extends ToolShape {
  execute(args: Record<string, unknown>, options: { signal: AbortSignal }): unknown;
}

/** A callable tool, from any source. */
export interface Tool extends PropertyTool {
  source: "property" | "page";
  /** The call ends when the visitor submits a form. */
  waitsForForm: boolean;
}

/** Field by field: the page's tool may be an instance of a class, and a spread would omit its accessors. */
export function shapeOf({ name, title, description, inputSchema, annotations }: ToolShape): ToolShape {
  return { name, title, description, inputSchema, annotations };
}
