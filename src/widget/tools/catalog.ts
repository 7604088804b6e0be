import { fieldsOf, isObject } from "../service/fields.ts";
import type { Tool } from "./tool.ts";

/** A catalog item for POST /tools. JSON leaves out undefined fields. */
interface ToolDefinition {
  name: string;
  description: string | undefined;
  inputSchema: { type: "object"; properties: unknown; required: unknown };
}

/** The service's default of WIDGET_MAX_WEBMCP_TOOLS_CHARS. */
const MAX_CATALOG_CHARS = 20_000;

/**
 * The catalog to post. If it is too long, tools are dropped: first the page tools that write, last the property tools
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
  // Sorted by name: the same tools make the same catalog in any order.
  return { catalog: kept.sort((a, b) => (a.name < b.name ? -1 : 1)).map(definitionOf), dropped };
}

/** Always has a schema of type object: without one the service refuses the whole catalog (422). */
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
