import { z } from "zod";

/**
 * Removes, from the value itself, the fields that are null and that the schema refused for it; true if there were any. The
 * entries of a list or of a map are no fields, and stay: leaving one out would change what was said.
 */
export function leaveOutNulls(
  schema: z.core.$ZodType,
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
): boolean {
  let some = false;
  for (const { path } of issues) {
    const name = path.at(-1);
    if (name === undefined) continue;
    const parent = path.slice(0, -1).reduce<Place | null>(partOf, { schema: bare(schema), value });
    if (!parent || !(parent.schema instanceof z.ZodObject) || ownOf(parent.value, name) !== null) continue;
    some = Reflect.deleteProperty(parent.value as object, name) || some;
  }
  return some;
}

interface Place {
  schema: z.core.$ZodType;
  value: unknown;
}

/** null: the schema does not say what is there, as in a union. */
function partOf(place: Place | null, key: PropertyKey): Place | null {
  const inner = place && innerOf(place.schema, key);
  return inner ? { schema: bare(inner), value: ownOf(place.value, key) } : null;
}

function innerOf(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | null {
  if (schema instanceof z.ZodObject) return (schema.shape as z.core.$ZodShape)[String(key)] ?? null;
  if (schema instanceof z.ZodArray) return schema.element;
  return schema instanceof z.ZodRecord || schema instanceof z.ZodMap ? schema.valueType : null;
}

/** Without what only says whether the value may be absent or null, and what becomes of it. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  // Of z.preprocess() the schema comes last.
  if (schema instanceof z.ZodPipe) return bare(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  const isWrapped =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault;
  return isWrapped ? bare(schema.def.innerType) : schema;
}

/** undefined: there is none. */
function ownOf(parent: unknown, key: PropertyKey): unknown {
  const hasIt = typeof parent === "object" && parent !== null && Object.hasOwn(parent, key);
  return hasIt ? Reflect.get(parent, key) : undefined;
}
