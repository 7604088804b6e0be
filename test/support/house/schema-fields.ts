import type { z } from "zod";

/** A text that a schema accepts, by its path: `agent.mcpServers.*.url`, where `*` is any name or place. */
export interface TextField {
  path: string;
  /** The bound of its length in UTF-16 units; Infinity: it has none. */
  maxLength: number;
}

/** Every text of a schema, with the names of its maps. Unions give the texts of all their members. */
export function boundsOf(schema: z.ZodType): TextField[] {
  return fieldsOf(schema, "");
}

export function textFieldsOf(schema: z.ZodType): string[] {
  return [...new Set(boundsOf(schema).map(({ path }) => path))];
}

// A cast: the definition of any schema, which zod types for each kind apart.
interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  element?: z.ZodType;
  shape?: Record<string, z.ZodType>;
  options?: z.ZodType[];
  keyType?: z.ZodType;
  valueType?: z.ZodType;
}

function fieldsOf(schema: z.ZodType, path: string): TextField[] {
  const def = schema._zod.def as Definition;
  const below = (part: string) => (path === "" ? part : `${path}.${part}`);
  switch (def.type) {
    case "string":
      return [{ path, maxLength: maxLengthOf(schema) }];
    case "optional":
    case "nullable":
    case "default":
    case "catch":
    case "readonly":
      return fieldsOf(def.innerType as z.ZodType, path);
    case "pipe":
      // What z.preprocess() makes begins with a transform.
      return fieldsOf((typeOf(def.in) === "transform" ? def.out : def.in) as z.ZodType, path);
    case "array":
      return fieldsOf(def.element as z.ZodType, below("*"));
    case "object":
      return Object.entries(def.shape ?? {}).flatMap(([name, field]) => fieldsOf(field, below(name)));
    case "union":
      return (def.options ?? []).flatMap((option) => fieldsOf(option, path));
    case "record":
    case "map":
      return [
        ...fieldsOf(def.keyType as z.ZodType, below("(name)")),
        ...fieldsOf(def.valueType as z.ZodType, below("*")),
      ];
    case "unknown":
      return [{ path, maxLength: Number.POSITIVE_INFINITY }];
    default:
      return [];
  }
}

function typeOf(schema: z.ZodType | undefined): string {
  return schema?._zod.def.type ?? "";
}

function maxLengthOf(schema: z.ZodType): number {
  const { maxLength } = schema as { maxLength?: number | null };
  return maxLength ?? Number.POSITIVE_INFINITY;
}
