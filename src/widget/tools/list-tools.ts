import { listPageTools } from "./page-tools.ts";
import type { PropertyTool, Tool, ToolShape } from "./tool.ts";

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
