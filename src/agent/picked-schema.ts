export type Schema = Record<string, unknown>;

/**
 * A JSON schema from a page or an MCP server, reduced to what is safe to compile and to show to a model: always of type
 * object, also where nothing else is left. There is no other way to make one, so nothing else reaches the compiler.
 *
 * Pages are not trusted. Only the keywords below survive, each only with a value of its own kind: no `$ref` (nothing is
 * fetched, nothing recurs), no `pattern` or `patternProperties` (a regular expression can be made to run for hours),
 * no `format`, no `uniqueItems` (quadratic). What is left out is left unchecked; the page checks its own arguments.
 */
export class PickedSchema {
  readonly keywords: Schema;
  #json: string | null = null;

  constructor(untrusted: unknown) {
    this.keywords = { ...pick(untrusted, 0), type: "object" };
  }

  /** Schemas of the same JSON are the same schema. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.keywords));
  }
}

/** Deeper than any form that a visitor fills in; below it everything fits. */
const MAX_DEPTH = 16;

/** Reads one keyword's value; undefined leaves the keyword out. */
type Reader = (value: unknown, depth: number) => unknown;

const TYPES = new Set<unknown>(["object", "array", "string", "number", "integer", "boolean", "null"]);

const text: Reader = (value) => (typeof value === "string" ? value : undefined);
const texts: Reader = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? [...new Set(value)] : undefined;
const count: Reader = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined);
const number: Reader = (value) => (Number.isFinite(value) ? value : undefined);
const positive: Reader = (value) => (Number.isFinite(value) && Number(value) > 0 ? value : undefined);
const any: Reader = (value) => value;
const list: Reader = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined);
const types: Reader = (value) => {
  if (TYPES.has(value)) return value;
  return Array.isArray(value) && value.length > 0 && value.every((item) => TYPES.has(item))
    ? [...new Set(value)]
    : undefined;
};
const schema: Reader = (value, depth) => (typeof value === "boolean" ? value : pick(value, depth));
const schemas: Reader = (value, depth) =>
  Array.isArray(value) && value.length > 0 ? value.map((item) => schema(item, depth) ?? true) : undefined;
const schemasByName: Reader = (value, depth) =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, schema(item, depth) ?? true]))
    : undefined;

const KEYWORDS: ReadonlyMap<string, Reader> = new Map([
  ["title", text],
  ["description", text],
  ["default", any],
  ["examples", list],
  ["type", types],
  ["enum", list],
  ["const", any],
  ["properties", schemasByName],
  ["required", texts],
  ["additionalProperties", schema],
  ["minProperties", count],
  ["maxProperties", count],
  ["items", schema],
  ["minItems", count],
  ["maxItems", count],
  ["minLength", count],
  ["maxLength", count],
  ["minimum", number],
  ["maximum", number],
  ["exclusiveMinimum", number],
  ["exclusiveMaximum", number],
  ["multipleOf", positive],
  ["anyOf", schemas],
  ["oneOf", schemas],
  ["allOf", schemas],
  ["not", schema],
]);

function pick(untrusted: unknown, depth: number): Schema | undefined {
  if (!isRecord(untrusted) || depth > MAX_DEPTH) return undefined;
  const picked: Schema = {};
  for (const [keyword, value] of Object.entries(untrusted)) {
    const kept = KEYWORDS.get(keyword)?.(value, depth + 1);
    if (kept !== undefined) picked[keyword] = kept;
  }
  return picked;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
