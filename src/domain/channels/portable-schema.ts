/** The schema that the service takes (specification, Tool definition): other fields of the root are dropped. */
interface PortableSchema {
  properties: Record<string, unknown> | undefined;
  required: string[] | undefined;
}

/** Keywords whose value is data, not a schema: a `$ref` in it is no reference. */
const DATA: readonly string[] = ["const", "default", "enum", "examples"];

/** Keywords whose value has a schema under each name, whatever the names are. */
const BY_NAME: readonly string[] = [
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
];

/** A root made of more references and branches than this is somebody's mistake. */
const MAX_ROOTS = 100;

/**
 * A tool's input schema as properties and required alone, with the same meaning. What its references name (by JSON
 * pointer, `$anchor` or `$id`) moves into `$defs` of its first property, where the service resolves them; a root that is
 * only a reference, or made of branches, is replaced by what it stands for. A schema that is no JSON (a cycle, a BigInt)
 * has no properties.
 */
export function portableSchema(schema: unknown): PortableSchema {
  const root = copyOf(schema);
  const names = namesIn(root);
  const { properties, required } = mergedRoot(root, names, { left: MAX_ROOTS });
  const [carrier, first] = Object.entries(properties).find(([, value]) => isObject(value)) ?? [];
  if (carrier !== undefined && isObject(first)) moveDefinitions(properties, carrier, names);
  return {
    properties: Object.keys(properties).length === 0 ? undefined : properties,
    required: required.length === 0 ? undefined : required,
  };
}

/** What a root says by more than properties and required. */
const BEYOND_PROPERTIES = ["$defs", "definitions", "$ref", "allOf", "anyOf", "oneOf"];

/**
 * The schema of a tool as a client of another kind sends it, as a catalog takes it: what its root says beyond properties
 * and required is in these. A value that is no object stays as it is, to be refused.
 */
export function catalogSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const whole = { type: "object", ...schema };
  if (!BEYOND_PROPERTIES.some((name) => Object.hasOwn(schema, name))) return whole;
  const { properties, required } = portableSchema(schema);
  return {
    type: whole.type,
    ...(properties === undefined ? {} : { properties }),
    ...(required === undefined ? {} : { required }),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function copyOf(schema: unknown): unknown {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(schema));
    return copy;
  } catch {
    return undefined;
  }
}

/** What a reference can name, by the reference as it is written. */
type Names = (reference: string) => unknown;

function namesIn(root: unknown): Names {
  const named = new Map<string, unknown>();
  eachSchema(root, (schema) => {
    const { $anchor, $id, id } = schema;
    if (typeof $anchor === "string") named.set(`#${$anchor}`, schema);
    for (const name of [$id, id]) if (typeof name === "string") named.set(name, schema);
  });
  return (reference) => {
    if (named.has(reference)) return named.get(reference);
    const [base = "", pointer = ""] = reference.split("#");
    const from = base === "" ? root : named.get(base);
    return pointer === "" || pointer.startsWith("/") ? pointed(from, pointer) : undefined;
  };
}

function pointed(from: unknown, pointer: string): unknown {
  let found = from;
  for (const step of pointer.split("/").slice(1)) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/**
 * The properties of the root, of what it refers to, and of its branches. Of `anyOf` and `oneOf` only what all branches
 * require is required: the page checks its own arguments.
 */
function mergedRoot(
  root: unknown,
  names: Names,
  bound: { left: number },
): { properties: Record<string, unknown>; required: string[] } {
  if (!isObject(root) || bound.left <= 0) return { properties: {}, required: [] };
  bound.left -= 1;
  const merged = (schema: unknown) => mergedRoot(schema, names, bound);
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const all = listOf(root["allOf"]).map(merged);
  if (typeof root["$ref"] === "string") all.push(merged(names(root["$ref"])));
  const some = [root["anyOf"], root["oneOf"]].map((branches) => listOf(branches).map(merged));
  const own = {
    properties: isObject(root["properties"]) ? root["properties"] : {},
    required: listOf(root["required"]).filter((name) => typeof name === "string"),
  };
  // Without a prototype: a property may be called anything.
  const properties = Object.assign(Object.create(null), own.properties) as Record<string, unknown>;
  const add = (parts: { properties: Record<string, unknown> }[], keyword: "allOf" | "anyOf") => {
    for (const name of new Set(parts.flatMap((part) => Object.keys(part.properties)))) {
      const found = [properties, ...parts.map((part) => part.properties)]
        .filter((one) => Object.hasOwn(one, name))
        .map((one) => one[name]);
      const unlike = found.filter((one, at) => found.findIndex((other) => isSame(one, other)) === at);
      properties[name] = unlike.length === 1 ? unlike[0] : { [keyword]: unlike };
    }
  };
  add(all, "allOf");
  for (const branches of some) add(branches, "anyOf");
  const required = new Set([...own.required, ...all.flatMap((part) => part.required)]);
  for (const [first, ...others] of some) {
    for (const name of first?.required ?? [])
      if (others.every((other) => other.required.includes(name))) required.add(name);
  }
  return { properties, required: [...required] };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Puts what is referred to into `$defs` of this property, and points the references there. */
function moveDefinitions(properties: Record<string, unknown>, carrier: string, names: Names): void {
  const own = fieldsOf(fieldsOf(properties[carrier])["$defs"]);
  let prefix = "d";
  while (Object.keys(own).some((name) => name.startsWith(prefix))) prefix += "d";
  const place = `#/properties/${encodeURIComponent(carrier.replaceAll("~", "~0").replaceAll("/", "~1"))}/$defs/`;
  const moved = new Map<unknown, string>();
  const seen = new Set<unknown>();
  const refer = (schema: Record<string, unknown>) => {
    const reference = schema["$ref"];
    if (typeof reference !== "string" || seen.has(schema)) return;
    seen.add(schema);
    const target = names(reference);
    const isInPlace = reference.startsWith("#/") && pointed({ properties }, reference) === target;
    if (target === undefined || isInPlace) return;
    const name = moved.get(target) ?? `${prefix}${moved.size}`;
    moved.set(target, name);
    schema["$ref"] = place + name;
  };
  eachSchema({ properties }, refer);
  // A map is walked in the order of its growth: what definitions refer to moves, too.
  for (const target of moved.keys()) eachSchema(target, refer);
  if (moved.size === 0) return;
  const definitions = Object.fromEntries([...moved].map(([target, name]) => [name, target]));
  properties[carrier] = { ...fieldsOf(properties[carrier]), $defs: { ...own, ...definitions } };
}

/** Calls `visit` for a schema and each schema in it. */
function eachSchema(schema: unknown, visit: (schema: Record<string, unknown>) => void): void {
  const waiting = [schema];
  for (const part of waiting) {
    if (Array.isArray(part)) waiting.push(...part);
    else if (isObject(part)) {
      visit(part);
      for (const [keyword, value] of Object.entries(part)) {
        if (DATA.includes(keyword)) continue;
        if (BY_NAME.includes(keyword) && isObject(value)) waiting.push(...Object.values(value));
        else waiting.push(value);
      }
    }
  }
}
