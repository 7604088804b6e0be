import { isRecord } from "../../is-record.ts";

type Schema = Record<string, unknown>;

/** Keywords whose value maps names to schemas: these names are not keywords. */
const BY_NAME = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]);
/** Keywords whose value is data. */
const OF_DATA = new Set(["const", "enum", "default", "examples", "required", "dependentRequired"]);

/** A tool's schema without these keywords, at every depth. */
export function withoutKeywords(schema: Schema, leftOut: readonly string[]): Schema {
  if (leftOut.length === 0) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !leftOut.includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (OF_DATA.has(keyword)) return [keyword, value];
      if (!BY_NAME.has(keyword) || !isRecord(value)) return [keyword, within(value, leftOut)];
      const named = Object.entries(value).map(([name, each]) => [name, within(each, leftOut)]);
      return [keyword, Object.fromEntries(named)];
    }),
  );
}

/** A schema, a list of schemas, or another value. */
function within(value: unknown, leftOut: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => within(each, leftOut));
  return isRecord(value) ? withoutKeywords(value, leftOut) : value;
}
