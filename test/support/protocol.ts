import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";
import { z } from "zod";
import { step, widgetLine } from "../../src/protocol/lines.ts";

/** What is made of the schemas of src/protocol, for those who have no zod. `npm run protocol` writes it. */
const root = fileURLToPath(new URL("../..", import.meta.url));

/** By the name of the constant, of which schema it tells what is required. */
const CHECKED: Record<string, z.core.$ZodType> = { LINES: widgetLine, STEP: step };

/** Each file that is made, with its text. */
export async function madeOfProtocol(): Promise<Map<string, string>> {
  const made = { "src/protocol/required.ts": requiredOfAll() };
  const { printWidth } = JSON.parse(readFileSync(`${root}.oxfmtrc.json`, "utf8")) as { printWidth: number };
  const formatted = Object.entries(made).map(
    async ([file, text]) => [root + file, (await format(file, text, { printWidth })).code] as const,
  );
  return new Map(await Promise.all(formatted));
}

/** For src/protocol/fits.ts. */
function requiredOfAll(): string {
  const tables = Object.entries(CHECKED).map(
    ([name, schema]) => `export const ${name} = ${JSON.stringify(requiredOf(schema))} as const;`,
  );
  return `// Made of the schemas beside it by \`npm run protocol\`: what a value must have, at least.\n\n${tables.join("\n\n")}`;
}

function requiredOf(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodUnion) return schema.options.map(requiredOf);
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape).filter(([, each]) => !isOptional(each));
    return Object.fromEntries(fields.map(([name, each]) => [name, requiredOf(each)]));
  }
  if (schema instanceof z.ZodLiteral) return [...schema.values];
  if (schema instanceof z.ZodEnum) return schema.options;
  if (schema instanceof z.ZodNumber) return "number";
  return schema instanceof z.ZodString ? "string" : "object";
}

function isOptional(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodExactOptional {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional;
}
