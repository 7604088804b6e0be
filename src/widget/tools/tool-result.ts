import { cutText } from "../../../machines/line.ts";
import { fieldsOf } from "../service/fields.ts";

/** The service keeps 4,000 characters of a result. A far longer one could exceed its limit for bodies (413). */
const MAX_CHARS = 8_000;

export interface ToolResult {
  result: unknown;
  isError: boolean;
}

/** The body of POST /tool-results, without threadId and page, which are added when it is posted. */
export interface ToolResultBody extends ToolResult {
  callId: string;
  tool: string;
}

export function failure(text: string): ToolResult {
  return { result: { isError: true, ...contentOf(cutText(text, MAX_CHARS)) }, isError: true };
}

/** The result of a tool that navigated before it returned. */
export function openedPageResult(): ToolResult {
  const text = `The tool opened a new page: ${document.title} (${location.pathname}). It returned no value.`;
  return { result: contentOf(text), isError: false };
}

/**
 * A tool's return value, in the form for the service. Tools return MCP-style objects, strings, or anything else; the
 * browser's own executeTool() converts everything to a string, even undefined.
 */
export function resultOf(value: unknown): ToolResult {
  const given = typeof value === "string" ? unpacked(value) : value;
  if (given === null || given === undefined) return { result: "", isError: false };
  if (typeof given === "string") return { result: cutText(given, MAX_CHARS), isError: false };

  const { content, isError } = fieldsOf(given);
  const result = Array.isArray(content)
    ? contentOf(cutText(content.map(textOfPart).join("\n"), MAX_CHARS))
    : cutText(stringified(given) ?? "The tool returned what cannot be written as JSON", MAX_CHARS);
  return { result, isError: isError === true };
}

function contentOf(text: string): object {
  return { content: [{ type: "text", text }] };
}

/** The tool returned nothing, like one that only starts a navigation. */
export function isEmpty({ result }: ToolResult): boolean {
  return result === "";
}

function unpacked(text: string): unknown {
  if (text === "undefined" || text === "null") return null;
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOfPart(part: unknown): string {
  const { type, text } = fieldsOf(part);
  return typeof text === "string" ? text : `[${typeof type === "string" ? type : "part"}]`;
}

function stringified(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}
