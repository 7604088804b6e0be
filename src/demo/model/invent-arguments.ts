import { z } from "zod";

/** The part of a tool's JSON schema that the demo model understands. */
const Property = z.object({
  type: z.unknown().optional(),
  enum: z.array(z.unknown()).optional().catch(undefined),
  default: z.unknown().optional(),
  items: z.unknown().optional(),
});
const Parameters = z.object({
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  required: z.array(z.string()).optional().catch(undefined),
});

/** The input that arguments are invented from. */
export interface Source {
  userText: string;
  /** The topic, without the words around it: "red mug". */
  subject: string;
  /** Results of the run so far, the latest last. */
  results: readonly string[];
}

/** For address forms: a made-up person. */
const SAMPLE_ADDRESS: readonly [RegExp, string][] = [
  [/e-?mail/i, "ada@example.com"],
  [/phone|tel/i, "+49 30 1234567"],
  [/street|address|line/i, "1 Example Street"],
  [/zip|post/i, "10115"],
  [/city|town/i, "Berlin"],
  [/country/i, "DE"],
  [/name/i, "Ada Example"],
];

/** Invents every required argument, and others that the text mentions. */
export function inventArguments(parameters: unknown, source: Source): Record<string, unknown> {
  const { properties = {}, required = [] } = Parameters.safeParse(parameters).data ?? {};
  const invented: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    if (name === "_progress") continue;
    const value = invent(name, schema, source, required.includes(name));
    if (value !== undefined) invented[name] = value;
  }
  return invented;
}

function invent(name: string, schema: unknown, source: Source, isRequired: boolean): unknown {
  const property = Property.safeParse(schema).data ?? {};
  const number = /\d+(\.\d+)?/.exec(source.userText)?.[0];
  if (property.enum) {
    const named = property.enum.find((each) =>
      source.userText.toLowerCase().includes(String(each).toLowerCase()),
    );
    return named ?? (isRequired ? property.enum[0] : undefined);
  }
  switch (property.type) {
    case "number":
    case "integer":
      if (number !== undefined)
        return property.type === "integer" ? Math.trunc(Number(number)) : Number(number);
      return isRequired ? (property.default ?? 1) : undefined;
    case "boolean":
      return isRequired ? (property.default ?? true) : undefined;
    case "array":
      return isRequired ? [invent(name, property.items, source, true)] : undefined;
    case "object":
      return isRequired ? inventArguments(schema, source) : undefined;
    default:
      return isRequired ? (property.default ?? inventText(name, source)) : idIn(source.userText, name);
  }
}

function inventText(name: string, source: Source): string {
  if (/(id|sku|number|product|item|order)$/i.test(name)) {
    const id = idIn(source.userText, name) ?? foundId(name, source.results);
    if (id !== undefined) return id;
  }
  const quoted = /["“„«]([^"“”„«»]+)["”“»]/.exec(source.userText)?.[1];
  const sample = SAMPLE_ADDRESS.find(([key]) => key.test(name))?.[1];
  return quoted ?? sample ?? (source.subject || source.userText);
}

/** "order 1001", "#A-17": only for an argument that is an id. */
function idIn(text: string, name: string): string | undefined {
  if (!/(id|sku|number|order)$/i.test(name)) return undefined;
  return /#?\b([a-z]{0,4}-?\d[\w-]*)/i.exec(text)?.[1];
}

/** The first value with this name in the latest result, or else its first id. */
function foundId(name: string, results: readonly string[]): string | undefined {
  const latest = results.at(-1) ?? "";
  const named = (key: string) =>
    new RegExp(String.raw`\b${key}"?\s*[:=]\s*"?([\w-]+)`, "i").exec(latest)?.[1];
  return named(name.replaceAll(/\W/g, "")) ?? named("id") ?? named("sku");
}
