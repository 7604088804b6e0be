/** What a tool says of itself, in the shape of WebMCP. */
export interface ToolShape {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema?: unknown;
  annotations?: ToolAnnotations | undefined;
}

export interface ToolAnnotations {
  readOnlyHint?: boolean;
  /** MCP's word, and WebMCP's: both ask first. */
  destructiveHint?: boolean;
  consequentialHint?: boolean;
}

/** A tool that the page gives to the element: `agent.tools = [...]`, or `agent.registerTool(tool)`. */
export interface PropertyTool extends ToolShape {
  execute(args: Record<string, unknown>, options: { signal: AbortSignal }): unknown;
}

/** A tool that can be called now, from any source. */
export interface Tool extends PropertyTool {
  source: "property" | "page";
  /** The call ends when the visitor submits a form. */
  waitsForForm: boolean;
}

/** Field by field: the page's tool may be an instance of a class, whose accessors a spread would leave out. */
export function shapeOf({ name, title, description, inputSchema, annotations }: ToolShape): ToolShape {
  return { name, title, description, inputSchema, annotations };
}
