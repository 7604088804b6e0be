import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";
import { z } from "zod";
import { feedLine } from "../../../src/protocol/feed.ts";
import { widgetLine } from "../../../src/protocol/lines.ts";
import { withProtocolTypes } from "./client-types.ts";

/** What is made of the schemas of src/protocol, for those who have no zod. `npm run protocol` writes it. */
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** By the name of the constant, of which schema it tells what is required. */
const CHECKED = new Map<string, z.core.$ZodType>([
  ["LINES", widgetLine],
  ["FEED_LINES", feedLine],
]);

/** Each file that is made, with its text. */
export async function madeOfProtocol(): Promise<Map<string, string>> {
  const declarations = "src/client/client.d.ts";
  const made = {
    "src/protocol/required.ts": requiredOfAll(),
    [declarations]: withProtocolTypes(readFileSync(root + declarations, "utf8")),
  };
  const { printWidth } = JSON.parse(readFileSync(`${root}.oxfmtrc.json`, "utf8")) as { printWidth: number };
  const formatted = Object.entries(made).map(
    async ([file, text]) => [root + file, (await format(file, text, { printWidth })).code] as const,
  );
  return new Map(await Promise.all(formatted));
}

/** For src/protocol/fits.ts. */
function requiredOfAll(): string {
  const tables = [...CHECKED].map(
    ([name, schema]) => `export const ${name} = ${requiredOf(schema)} as const;`,
  );
  return `// Made of the schemas beside it by \`npm run protocol\`: what a value must have, at least.\n\n${tables.join("\n\n")}`;
}

function requiredOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodUnion) return `[${schema.options.map(namedOrRequired).join()}]`;
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape).filter(([, each]) => !isOptional(each));
    return `{ ${fields.map(([name, each]) => `${name}: ${namedOrRequired(each)}`).join()} }`;
  }
  if (schema instanceof z.ZodLiteral) return JSON.stringify([...schema.values]);
  if (schema instanceof z.ZodEnum) return JSON.stringify(schema.options);
  if (schema instanceof z.ZodNumber) return '"number"';
  return schema instanceof z.ZodString ? '"string"' : '"object"';
}

/** The constant of a schema that has one. */
function namedOrRequired(schema: z.core.$ZodType): string {
  return [...CHECKED].find(([, one]) => one === schema)?.[0] ?? requiredOf(schema);
}

function isOptional(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodExactOptional {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional;
}
