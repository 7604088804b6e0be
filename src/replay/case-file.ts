import { z } from "zod";
import { complaint } from "../domain/channels/channel-fields.ts";
import { messageOf } from "../errors.ts";
import { caseSchema } from "./case.ts";
import type { ReplayCase } from "./case.ts";

/** A file of cases: JSON `{ "cases": […] }`, or one case a line. Throws an Error whose message is one line. */
export function parseCases(text: string): ReplayCase[] {
  const cases = isLines(text) ? parseLines(text) : parseWhole(text);
  const names = new Set<string>();
  for (const { name } of cases) {
    if (names.has(name)) throw new Error(`two cases are called ${JSON.stringify(name)}`);
    names.add(name);
  }
  return cases;
}

const fileSchema = z.strictObject({ cases: z.array(caseSchema).min(1) });

function parseWhole(text: string): ReplayCase[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON: ${messageOf(error)}`, { cause: error });
  }
  const isOne = typeof json === "object" && json !== null && "exchanges" in json;
  return isOne ? [parsed(caseSchema, json)] : parsed(fileSchema, json).cases;
}

function parseLines(text: string): ReplayCase[] {
  return text.split("\n").flatMap((line, nth) => {
    if (line.trim() === "") return [];
    try {
      return [parsed(caseSchema, JSON.parse(line))];
    } catch (error) {
      throw new Error(`line ${nth + 1}: ${messageOf(error)}`, { cause: error });
    }
  });
}

function parsed<Value>(schema: z.ZodType<Value>, json: unknown): Value {
  const result = schema.safeParse(json);
  if (!result.success) throw new Error(complaint(result.error));
  return result.data;
}

/** True if there are several lines, and the first one is a complete JSON value. */
function isLines(text: string): boolean {
  const [first = "", ...rest] = text.split("\n").filter((line) => line.trim() !== "");
  if (rest.length === 0) return false;
  try {
    JSON.parse(first);
    return true;
  } catch {
    return false;
  }
}

/** The file's text with the case added; one of the same name is replaced. `before`: null if there is no file yet. */
export function withCase(
  before: string | null,
  added: ReplayCase,
  { asLines }: { asLines: boolean },
): string {
  const others = before === null || before.trim() === "" ? [] : parseCases(before);
  const at = others.findIndex(({ name }) => name === added.name);
  const cases = at < 0 ? [...others, added] : others.with(at, added);
  if (asLines) return cases.map((each) => `${JSON.stringify(each)}\n`).join("");
  return `${JSON.stringify({ cases }, null, 2)}\n`;
}
