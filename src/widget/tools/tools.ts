import { listPageTools } from "./page-tools.ts";

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

/** A catalog item, as POST /tools takes it. */
interface Definition {
  name: string;
  description?: string;
  inputSchema: { type: "object"; properties?: unknown; required?: unknown };
}

export type ToolSources = "all" | "page" | "property" | "none";

/** The tools on offer; a property tool stands before a page tool of the same name. */
export async function listTools(
  given: Iterable<PropertyTool>,
  sources: ToolSources,
  isOffered: (tool: ToolShape) => boolean,
): Promise<Tool[]> {
  const own = sources === "all" || sources === "property" ? [...given].map(fromProperty) : [];
  const page = sources === "all" || sources === "page" ? await listPageTools() : [];
  const byName = new Map([...page, ...own].map((tool) => [tool.name, tool]));
  return [...byName.values()].filter((tool) => isOffered(tool));
}

/** At most this many characters of catalog (WIDGET_MAX_WEBMCP_TOOLS_CHARS of the service, by default). */
export const MAX_CATALOG_CHARS = 20_000;

/**
 * The catalog as it is posted. One that is too long loses tools: page tools that change things first, the page's own
 * property tools last.
 */
export function catalogOf(tools: Tool[]): { catalog: Definition[]; dropped: string[] } {
  const worth = (tool: Tool) =>
    (tool.source === "property" ? 2 : 0) + (tool.annotations?.readOnlyHint === true ? 1 : 0);
  const kept = [...tools].sort((a, b) => worth(b) - worth(a));
  const dropped: string[] = [];
  while (JSON.stringify(kept.map(definitionOf)).length > MAX_CATALOG_CHARS) {
    const last = kept.pop();
    if (last !== undefined) dropped.push(last.name);
  }
  // By name, so that the same tools make the same catalog whatever their order was.
  return { catalog: kept.sort((a, b) => (a.name < b.name ? -1 : 1)).map(definitionOf), dropped };
}

function fromProperty(tool: PropertyTool): Tool {
  const { name, title, description, inputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema,
    annotations,
    source: "property",
    waitsForForm: false,
    run: (args, signal) => tool.execute(args, { signal }),
  };
}

/** A schema without a type would make the service refuse the whole catalog (422). */
function definitionOf({ name, description, inputSchema }: Tool): Definition {
  const { properties, required } = (
    typeof inputSchema === "object" && inputSchema !== null ? inputSchema : {}
  ) as {
    properties?: unknown;
    required?: unknown;
  };
  return {
    name,
    ...(typeof description === "string" ? { description } : {}),
    inputSchema: {
      type: "object",
      ...(typeof properties === "object" && properties !== null ? { properties } : {}),
      ...(Array.isArray(required) ? { required } : {}),
    },
  };
}
