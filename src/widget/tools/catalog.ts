import type { Tool } from "./tool.ts";

/** A catalog item, as POST /tools takes it. */
interface Definition {
  name: string;
  description?: string;
  inputSchema: { type: "object"; properties?: unknown; required?: unknown };
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
