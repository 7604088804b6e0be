import { fieldsOf, isObject } from "../service/fields.ts";
import type { Tool } from "./tool.ts";

/** A catalog item, as POST /tools takes it. JSON leaves out what is undefined. */
interface ToolDefinition {
  name: string;
  description: string | undefined;
  inputSchema: { type: "object"; properties: unknown; required: unknown };
}

/** The service's default of WIDGET_MAX_WEBMCP_TOOLS_CHARS. */
const MAX_CATALOG_CHARS = 20_000;

/**
 * The catalog as it is posted. One that is too long loses tools: first page tools that write, last the property tools
 * that only read.
 */
export function catalogOf(tools: Tool[]): { catalog: ToolDefinition[]; dropped: string[] } {
  const rank = (tool: Tool) =>
    (tool.source === "property" ? 2 : 0) + (tool.annotations?.readOnlyHint === true ? 1 : 0);
  const kept = [...tools].sort((a, b) => rank(b) - rank(a));
  const dropped: string[] = [];
  while (JSON.stringify(kept.map(definitionOf)).length > MAX_CATALOG_CHARS) {
    const last = kept.pop();
    if (last !== undefined) dropped.push(last.name);
  }
  // By name: the same tools make the same catalog in any order.
  return { catalog: kept.sort((a, b) => (a.name < b.name ? -1 : 1)).map(definitionOf), dropped };
}

/** Always with a schema of type object: without one the service refuses the whole catalog (422). */
function definitionOf({ name, description, inputSchema }: Tool): ToolDefinition {
  const { properties, required } = fieldsOf(inputSchema);
  return {
    name,
    description: typeof description === "string" ? description : undefined,
    inputSchema: {
      type: "object",
      properties: isObject(properties) ? properties : undefined,
      required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : undefined,
    },
  };
}
