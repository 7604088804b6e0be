import { isRecord } from "../../is-record.ts";
import { referred } from "./referred-schema.ts";

export type Schema = Record<string, unknown>;

/**
 * A JSON schema from a page or an MCP server, reduced to what is safe to compile and to show to a model. It is always of type
 * object, even if nothing else is left. There is no other way to make one, so nothing else reaches the compiler.
 *
 * Pages are not trusted. Only the keywords below survive, each only with a value of its own kind: no `pattern` or
 * `patternProperties` (a regular expression can be made to run for hours), no `format`, no `uniqueItems` (quadratic). A
 * `$ref` into the schema itself is replaced by what it names, and any other is left out: nothing is fetched, nothing recurs.
 * What is left out is left unchecked; the page checks its own arguments.
 */
export class PickedSchema {
  readonly #untrusted: unknown;
  readonly keywords: Schema;
  #json: string | null = null;

  constructor(untrusted: unknown) {
    this.#untrusted = untrusted;
    this.keywords = pickWhole(untrusted, false);
  }

  /** Equal for schemas of the same JSON. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.keywords));
  }

  /** For the model: as the page wrote it, with `pattern` and `format`, which help to write arguments and are not checked. */
  shown(): Schema {
    return pickWhole(this.#untrusted, true);
  }
}

function pickWhole(untrusted: unknown, isShown: boolean): Schema {
  const whole = { root: untrusted, isShown, left: MAX_SCHEMAS, following: [] };
  return { ...pick(untrusted, 0, whole), type: "object" };
}

/** Deeper than any form that a visitor fills in; below this depth nothing is checked. */
const MAX_DEPTH = 16;

/** References could make a small schema endless; a catalog has fewer of its own. */
const MAX_SCHEMAS = 4_000;

/** The state of one reduction. */
interface Whole {
  root: unknown;
  /** True: for the model to read. */
  isShown: boolean;
  /** How many more schemas may be read. */
  left: number;
  /** References that are being followed. */
  following: readonly string[];
}

/** Reads one keyword's value; undefined leaves the keyword out. */
type Reader = (value: unknown, depth: number, whole: Whole) => unknown;

const TYPES = new Set<unknown>(["object", "array", "string", "number", "integer", "boolean", "null"]);

const text: Reader = (value) => (typeof value === "string" ? value : undefined);
const texts: Reader = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? [...new Set(value)] : undefined;
const count: Reader = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined);
const number: Reader = (value) => (Number.isFinite(value) ? value : undefined);
const positive: Reader = (value) => (Number.isFinite(value) && Number(value) > 0 ? value : undefined);
const any: Reader = (value) => (isDeeperThan(value, MAX_DEPTH) ? undefined : value);
const list: Reader = (value) =>
  Array.isArray(value) && value.length > 0 && !isDeeperThan(value, MAX_DEPTH) ? value : undefined;
const types: Reader = (value) => {
  if (TYPES.has(value)) return value;
  return Array.isArray(value) && value.length > 0 && value.every((item) => TYPES.has(item))
    ? [...new Set(value)]
    : undefined;
};
const schema: Reader = (value, depth, whole) =>
  typeof value === "boolean" ? value : pick(value, depth, whole);
const schemas: Reader = (value, depth, whole) =>
  Array.isArray(value) && value.length > 0
    ? value.map((item) => schema(item, depth, whole) ?? true)
    : undefined;
const schemasByName: Reader = (value, depth, whole) =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, schema(item, depth, whole) ?? true]),
      )
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

const SHOWN_ONLY = ["pattern", "format"] as const;

function pick(untrusted: unknown, depth: number, whole: Whole): Schema | undefined {
  if (!isRecord(untrusted) || depth > MAX_DEPTH || whole.left <= 0) return undefined;
  whole.left -= 1;
  const picked: Schema = {};
  for (const [keyword, value] of Object.entries(untrusted)) {
    const kept = KEYWORDS.get(keyword)?.(value, depth + 1, whole);
    if (kept !== undefined) picked[keyword] = kept;
  }
  for (const word of whole.isShown ? SHOWN_ONLY : []) {
    if (typeof untrusted[word] === "string") picked[word] = untrusted[word];
  }
  return { ...pickReferred(untrusted["$ref"], depth, whole), ...picked };
}

/** A reference that leads back to itself is left out: nothing is checked there. */
function pickReferred(reference: unknown, depth: number, whole: Whole): Schema | undefined {
  if (typeof reference !== "string" || whole.following.includes(reference)) return undefined;
  const { following } = whole;
  whole.following = [...following, reference];
  const picked = pick(referred(whole.root, reference), depth + 1, whole);
  whole.following = following;
  return picked;
}

export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}
