import { isRecord } from "../../../is-record.ts";

const MARK = "x-mcp-header";
/** RFC 9110, token. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRIMITIVE = new Set(["string", "integer", "boolean"]);

/** Keywords whose values are schemas by name: a name among them is no keyword. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/**
 * Why a tool's arguments cannot go into headers as its schema wants it: over HTTP such a tool must not be offered (MCP
 * 2026-07-28, Transports, x-mcp-header). null: nothing is wrong, or no argument is to.
 */
export function headerFault(schema: Record<string, unknown>): string | null {
  const marked = inProperties(schema);
  if (countMarks(schema) > marked.length) return `it has ${MARK} on what is no property of its arguments`;
  const names = new Set<string>();
  for (const { [MARK]: name, type } of marked) {
    if (typeof name !== "string" || !TOKEN.test(name)) return `its ${MARK} is no name of a header`;
    if (!PRIMITIVE.has(String(type)))
      return `its ${MARK} is on a property that is no text, integer or boolean`;
    if (names.has(name.toLowerCase())) return `its ${MARK} is there twice with one name`;
    names.add(name.toLowerCase());
  }
  return null;
}

/** Marked properties, also those of properties that are objects. */
function inProperties({ properties }: Record<string, unknown>): Record<string, unknown>[] {
  const parts = isRecord(properties) ? Object.values(properties).filter(isRecord) : [];
  return parts.flatMap((part) => [...(MARK in part ? [part] : []), ...inProperties(part)]);
}

/** Values of `default`, `enum` and the like are no schemas, and have none of our marks by chance. */
function countMarks(part: unknown): number {
  if (Array.isArray(part)) return part.reduce<number>((sum, one) => sum + countMarks(one), 0);
  if (!isRecord(part)) return 0;
  let sum = MARK in part ? 1 : 0;
  for (const [keyword, value] of Object.entries(part)) {
    const below = BY_NAME.has(keyword) && isRecord(value) ? Object.values(value) : value;
    sum += countMarks(below);
  }
  return sum;
}
