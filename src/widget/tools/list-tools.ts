import { portableSchema } from "../../domain/channels/portable-schema.ts";
import { listPageTools } from "./list-page-tools.ts";
import type { annotationsOf } from "./registered-marks.ts";
import { shapeOf } from "./tool.ts";
import type { PropertyTool, Tool, ToolShape } from "./tool.ts";

export type ToolSources = "all" | "page" | "property" | "none";

/** The tools that are offered. `marksOf`: the annotations of a page's tool, which the script has noted from its start. A property tool hides a page tool of the same name. */
export async function listTools(
  propertyTools: Iterable<PropertyTool>,
  sources: ToolSources,
  isOffered: (tool: ToolShape) => boolean,
  marksOf: typeof annotationsOf,
): Promise<Tool[]> {
  const own = sources === "all" || sources === "property" ? [...propertyTools].map(fromProperty) : [];
  const page = sources === "all" || sources === "page" ? await listPageTools(marksOf) : [];
  const byName = new Map([...page, ...own].map((tool) => [tool.name, tool]));
  return [...byName.values()]
    .filter((tool) => isOffered(tool))
    .map((tool) => ({ ...tool, inputSchema: portableSchema(tool.inputSchema) }));
}

function fromProperty(tool: PropertyTool): Tool {
  return {
    ...shapeOf(tool),
    source: "property",
    waitsForForm: false,
    execute: (args, options) => tool.execute(args, options),
  };
}
