import { cutText } from "../../machines/line.ts";

/** How much of a tool's result is kept (the spec, Limits). */
export const RESULT_TEXT_CHARS = 4_000;

/**
 * The text of a tool's result, from a page or an MCP server: the `text` parts of an MCP-style object joined by newlines,
 * a string as it is, other JSON serialized; cut to 4,000 characters, never inside a surrogate pair (contract,
 * tool-results). Lone surrogates are replaced.
 */
export function resultText(result: unknown): string {
  return cutText(wholeResultText(result), RESULT_TEXT_CHARS);
}

/** The same, not cut. */
export function wholeResultText(result: unknown): string {
  return wholeText(result).replaceAll(LONE_SURROGATE, "\ufffd");
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

function wholeText(result: unknown): string {
  if (typeof result === "string") return result;
  const content = isRecord(result) ? result["content"] : undefined;
  if (!Array.isArray(content)) return JSON.stringify(result) ?? "null";
  return content.flatMap(textOfPart).join("\n");
}

/** Images, links and whatever else is no text have nothing to say to the model. */
function textOfPart(part: unknown): string[] {
  return isRecord(part) && typeof part["text"] === "string" ? [part["text"]] : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
