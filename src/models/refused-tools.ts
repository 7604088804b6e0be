import { createHash } from "node:crypto";
import type { ChatCompletionTool } from "openai/resources/chat/completions";
import type { Quirks } from "./quirks.ts";

/** How many are remembered of a model: a page can offer a new one with each message. The oldest are asked for again. */
const MOST_KEPT = 1_000;

/** OpenAI and those who speak like it; Groq. */
const BY_NAME = /\bschema for (?:function|tool) ([\w-]{1,64})/gi;

/** OpenAI's `param`, Anthropic's door, Bedrock, servers in Python: a place among the tools that were sent. */
const BY_PLACE =
  /\btools[ .](\d{1,3})[ .]{1,3}(?:(?:function|custom|toolspec)[ .]{1,3})?(?:parameters|input_?schema|name|description)\b/gi;
/** Gemini, which names all of them at once. */
const BY_DECLARATION = /\bfunction_declarations[ .](\d{1,3})[ .]{1,3}(?:parameters|name|description)\b/gi;

/** The tools of a request whose form a refusal names. */
export function namedTools(
  words: string,
  { tools = [] }: { tools?: ChatCompletionTool[] },
): ChatCompletionTool[] {
  const names = new Set([...words.matchAll(BY_NAME)].map(([, name]) => name));
  const places = new Set(
    [...words.matchAll(BY_PLACE), ...words.matchAll(BY_DECLARATION)].map(([, place]) => Number(place)),
  );
  return tools.filter((tool, at) => names.has(toolName(tool)) || places.has(at));
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
  return [...known, ...tools.map(hashOf)].slice(-MOST_KEPT);
}

function hashOf(tool: ChatCompletionTool): string {
  return createHash("sha256").update(JSON.stringify(tool)).digest("base64url");
}
