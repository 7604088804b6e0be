import { createHash } from "node:crypto";
import type { ChatCompletionTool } from "openai/resources/chat/completions";
import { isRecord } from "../../is-record.ts";
import type { Quirks } from "./quirks.ts";

/** How many are remembered of a model: a page can offer a new one with each message. The oldest are asked for again. */
const MOST_KEPT = 1_000;

/** The parts of a tool that are its form. A refusal of any other field says nothing of the tool. */
const FORM = new Set(["parameters", "input_schema", "inputschema", "name", "description"]);

/**
 * The tool that a place names: `["tools", 3, "function", "parameters"]`; Gemini's and Bedrock's have more names in
 * between, and the last index before the form counts.
 */
export function toolAt(
  path: readonly (string | number)[],
  tools: readonly ChatCompletionTool[],
): ChatCompletionTool | null {
  const form = path.findIndex((part) => typeof part === "string" && FORM.has(part.toLowerCase()));
  if (form < 0) return null;
  const place = path.slice(0, form).findLast((part) => typeof part === "number");
  return place === undefined ? null : (tools[place] ?? null);
}

/**
 * The tools whose schemas have this place (Moonshot: `properties.color`, or `root`). Where it says that a type is missing,
 * or beside `anyOf`, only those of which that is true.
 */
export function toolsWithPlace(
  path: readonly (string | number)[],
  said: string,
  tools: readonly ChatCompletionTool[],
): ChatCompletionTool[] {
  const places = path[0] === "root" ? path.slice(1) : path;
  const mayBe = (schema: unknown): boolean => {
    if (/type is not defined/i.test(said)) return isRecord(schema) && schema["type"] === undefined;
    if (/anyOf/.test(said)) return isRecord(schema) && schema["anyOf"] !== undefined;
    return schema !== undefined;
  };
  return tools.filter((tool) => mayBe(at(schemaOf(tool), places)));
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const part of path) {
    if (Array.isArray(found) && typeof part === "number") found = found[part];
    else if (isRecord(found) && Object.hasOwn(found, String(part))) found = found[String(part)];
    else return undefined;
  }
  return found;
}

function schemaOf(tool: ChatCompletionTool): unknown {
  return tool.type === "function" ? tool.function.parameters : undefined;
}

export function toolName(tool: ChatCompletionTool): string {
  return tool.type === "function" ? tool.function.name : tool.custom.name;
}

/** By all that is sent of it: another channel may have a tool of the same name, and a page a better one later. */
export function isRefused(tool: ChatCompletionTool, { refusedTools }: Pick<Quirks, "refusedTools">): boolean {
  return refusedTools.length > 0 && refusedTools.includes(hashOf(tool));
}

export function withRefused(
  known: Quirks["refusedTools"],
  tools: readonly ChatCompletionTool[],
): Quirks["refusedTools"] {
  const hashes = tools.map(hashOf).filter((hash) => !known.includes(hash));
  return hashes.length === 0 ? known : [...known, ...hashes].slice(-MOST_KEPT);
}

function hashOf(tool: ChatCompletionTool): string {
  return createHash("sha256").update(JSON.stringify(tool)).digest("base64url");
}
