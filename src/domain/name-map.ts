import { z } from "zod";

/** The one name that an object of JavaScript cannot have like any other: it is the prototype. */
const PROTOTYPE = "__proto__";

/**
 * A map whose names somebody else chose: any name is one, `__proto__` and `constructor` too, for it has no prototype.
 * zod's own record drops the former in silence.
 */
export function nameMap<Value extends z.ZodType>(
  name: z.ZodType<string, string>,
  value: Value,
): z.ZodType<Record<string, z.output<Value>>> {
  return z
    .preprocess((given) => (isObject(given) ? new Map(Object.entries(given)) : given), z.map(name, value))
    .transform((entries) => {
      // A cast: the type of an object without prototype is `any`.
      const named = Object.create(null) as Record<string, z.output<Value>>;
      for (const [one, its] of entries) named[one] = its;
      return named;
    });
}

/** For z.toJSONSchema(): such a map is documented as an object whose names are free. */
export function documentedMap({
  zodSchema,
}: {
  zodSchema: z.core.$ZodType;
}): Record<string, unknown> | "throw" {
  if (!(zodSchema instanceof z.ZodMap)) return "throw";
  const value = z.toJSONSchema(zodSchema.valueType, { io: "input", unrepresentable: documentedMap });
  const { $schema: _, ...additionalProperties } = value;
  return { type: "object", propertyNames: { type: "string" }, additionalProperties };
}

/** The schema, and an issue at the place of a name `__proto__`, however deep: in settings it is a mistake or an attack. */
export function withoutPrototypes<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((given, context) => {
    const path = prototypePath(given);
    if (path !== null) context.addIssue({ code: "custom", path, message: `must have no name ${PROTOTYPE}` });
    return given;
  }, schema);
}

/** Where a value parsed from JSON has that name; null: nowhere. Not recursive: it may be nested deeper than the stack. */
function prototypePath(value: unknown): string[] | null {
  const left: { value: unknown; path: string[] }[] = [{ value, path: [] }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next.value !== "object" || next.value === null) continue;
    if (Object.hasOwn(next.value, PROTOTYPE)) return [...next.path, PROTOTYPE];
    for (const [name, below] of Object.entries(next.value)) {
      if (typeof below === "object") left.push({ value: below, path: [...next.path, name] });
    }
  }
  return null;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
