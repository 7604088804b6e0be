import { z } from "zod";
import { documentedMap } from "../../src/domain/name-map.ts";
import type { Field, Route } from "../../src/http/route.ts";

/**
 * What of a route's requests is as long as its client likes, as far as its schema tells: texts without a greatest length or
 * a pattern, lists without a greatest count, maps, anything. By API and field: `widget text`, `server attributes{}`.
 */
export function freeSizes({ api, documentation }: Route): string[] {
  if (documentation === "hidden") return [];
  const { params, query, headers, body } = documentation;
  const fields: [string, Field["schema"]][] = Object.entries({ ...params, ...query, ...headers }).map(
    ([name, { schema }]) => [name, schema],
  );
  const named = fields.flatMap(([name, schema]) => freeIn(name, jsonSchema(schema)));
  return [...named, ...(body ? freeIn("", jsonSchema(body.schema)) : [])].map((name) => `${api} ${name}`);
}

interface Json {
  type?: string | string[];
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Json[];
  items?: Json;
  properties?: Record<string, Json>;
  additionalProperties?: Json | false;
}

function jsonSchema(schema: z.ZodType): Json {
  const unrepresentable: typeof documentedMap = (one) => {
    const described = documentedMap(one);
    return described === "throw" ? {} : described;
  };
  return z.toJSONSchema(schema, { io: "input", unrepresentable }) as Json;
}

function freeIn(name: string, schema: Json): string[] {
  const { anyOf, items, properties = {}, additionalProperties } = schema;
  if (anyOf) return anyOf.flatMap((one) => freeIn(name, one));
  if ("const" in schema || "enum" in schema) return [];
  const types = [schema.type ?? "anything"].flat();
  return types.flatMap((type) => {
    switch (type) {
      case "string":
        return schema.maxLength === undefined && schema.pattern === undefined ? [name] : [];
      case "array":
        return [...(schema.maxItems === undefined ? [name] : []), ...freeIn(`${name}[]`, items ?? {})];
      case "object":
        return [
          ...Object.entries(properties).flatMap(([key, one]) => freeIn(under(name, key), one)),
          ...(additionalProperties ? [under(name, "{}")] : []),
        ];
      case "anything":
        return [name];
      default:
        return [];
    }
  });
}

function under(name: string, key: string): string {
  return name === "" ? key : key === "{}" ? `${name}{}` : `${name}.${key}`;
}
