import { readFileSync } from "node:fs";
import { z } from "zod";
import * as feed from "../../../src/protocol/feed.ts";
import * as history from "../../../src/protocol/history.ts";
import * as lines from "../../../src/protocol/lines.ts";
import * as threads from "../../../src/protocol/threads.ts";

/** The part of src/client/client.d.ts that is made of the schemas of src/protocol: their types, with their comments. */

/** A type of the client: the constant of its schema, and the file that has it. */
type Declared = [name: string, schema: z.core.$ZodType, constant: string, file: string];

/** For the service, its operators and its own pages alone, or told in the place of their name. */
const OWN = ["step", "errorCode", "progressLine", "widgetLine", "serverLine", "historyPage"];
const OPERATORS = ["channelThread", "feedLine", "eventLine"];
/** Whose name in the client is another one. */
const RENAMED: Record<string, string> = { clientLine: "Line", clientFeedLine: "FeedLine" };

const DECLARED: readonly Declared[] = Object.entries({ lines, history, threads, feed }).flatMap(
  ([file, schemas]) =>
    Object.entries<z.core.$ZodType>(schemas)
      .filter(([constant]) => ![...OWN, ...OPERATORS].includes(constant))
      .map(([constant, schema]): Declared => [nameOf(constant), schema, constant, file])
      .sort(([, , one], [, , other]) => placeOf(one, file) - placeOf(other, file)),
);

/** By their schema, names that stand for a type. */
const NAMES = new Map<z.core.$ZodType, string>([
  ...DECLARED.map(([name, schema]) => [schema, name] as const),
  [lines.step, 'Omit<StepLine, "type" | "sources" | "approval">'],
  [lines.errorCode, "KnownErrorCode | (string & {})"],
]);

function nameOf(constant: string): string {
  return RENAMED[constant] ?? `${constant.charAt(0).toUpperCase()}${constant.slice(1)}`;
}

const MADE =
  /(?<=^\/\/ Made of src\/protocol by `npm run protocol`, to the next line like this\n).*?(?=^\/\/ Made)/ms;

/** The text of client.d.ts with that part anew. */
export function withProtocolTypes(declarations: string): string {
  const made = DECLARED.map((declared) => `${declarationOf(declared)}\n`).join("\n");
  return declarations.replace(MADE, () => `\n${made}\n`);
}

function declarationOf([name, schema, constant, file]: Declared): string {
  const source = sourceOf(constant, file);
  const comment = /^\/\*\*(?:(?!\*\/).)*\*\/$/ms.exec(source)?.[0] ?? commentOf(schema);
  if (schema instanceof z.ZodObject) {
    return `${comment}\nexport interface ${name} {\n${membersOf(schema, source, file).join("\n")}\n}`;
  }
  if (!(schema instanceof z.ZodUnion)) return `${comment}\nexport type ${name} = ${typeOf(schema, false)};`;
  const comments = [...source.matchAll(/^(?: {2}(\/\*\*.*\*\/\n))? {2}\w/gm)];
  const options = schema.options.map((option, nth) => `${comments[nth]?.[1] ?? ""}  | ${typeOf(option)}`);
  return `${comment}\nexport type ${name} =\n${options.join("\n")};`;
}

/** From the comment before a constant to what comes after it. */
function sourceOf(constant: string, file: string): string {
  const source = textOf(file);
  const at = placeOf(constant, file);
  return source.slice(source.lastIndexOf(";\n", at) + 2, source.indexOf(";\n", at) + 1).trim();
}

function placeOf(constant: string, file: string): number {
  return textOf(file).indexOf(`export const ${constant} =`);
}

function textOf(file: string): string {
  return readFileSync(new URL(`../../../src/protocol/${file}.ts`, import.meta.url), "utf8");
}

function membersOf(schema: z.ZodObject, source: string, file: string): string[] {
  // The fields of another schema have their comments there.
  const others = [...source.matchAll(/\.\.\.(\w+)\.shape/g)].map(([, constant = ""]) =>
    sourceOf(constant, file),
  );
  const text = [source, ...others].join("\n");
  return Object.entries<z.core.$ZodType>(schema.shape).map(([field, each]) => {
    const comment = new RegExp(`(/\\*\\*(?:(?!\\*/).)*\\*/)\\n  ${field}:`, "s").exec(text)?.[1];
    const told = field === "type" ? "" : `  ${comment ?? commentOf(each)}\n`;
    return `${told}  ${memberOf(field, each)};`;
  });
}

function commentOf(schema: z.core.$ZodType): string {
  const { description = "" } = schema as z.ZodType;
  return `/** ${description}. */`;
}

function memberOf(field: string, schema: z.core.$ZodType): string {
  const isOptional = schema instanceof z.ZodExactOptional;
  return `${field}${isOptional ? "?" : ""}: ${typeOf(isOptional ? schema.unwrap() : schema)}`;
}

/** A schema as TypeScript; its name where it has one, and `byName` is not false. */
function typeOf(schema: z.core.$ZodType, byName = true): string {
  // A description makes another schema of a named one.
  const name = NAMES.get(schema) ?? NAMES.get(schema._zod.parent ?? schema);
  if (byName && name !== undefined) return name;
  if (schema instanceof z.ZodObject) {
    return `{ ${Object.entries<z.core.$ZodType>(schema.shape)
      .map(([field, each]) => memberOf(field, each))
      .join("; ")} }`;
  }
  if (schema instanceof z.ZodArray) {
    const each = typeOf(schema.element);
    return /[ |]/.test(each) && !each.endsWith(">") ? `(${each})[]` : `${each}[]`;
  }
  if (schema instanceof z.ZodLiteral)
    return [...schema.values].map((value) => JSON.stringify(value)).join(" | ");
  if (schema instanceof z.ZodEnum) return schema.options.map((value) => JSON.stringify(value)).join(" | ");
  if (schema instanceof z.ZodUnion) return schema.options.map((one) => typeOf(one)).join(" | ");
  if (schema instanceof z.ZodNullable) return `${typeOf(schema.unwrap())} | null`;
  if (schema instanceof z.ZodRecord) return `Record<string, ${typeOf(schema.valueType)}>`;
  if (schema instanceof z.ZodString) return "string";
  if (schema instanceof z.ZodNumber) return "number";
  if (schema instanceof z.ZodUnknown) return "unknown";
  throw new Error(`Cannot write a type: ${schema._zod.def.type} has none here`);
}
