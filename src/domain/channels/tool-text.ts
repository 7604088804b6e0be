import { cutText } from "../../../machines/line.ts";

/** How much of a tool's result is kept (the spec, Limits). */
export const RESULT_TEXT_CHARS = 4_000;

/**
 * The text of a tool's result, from a page or an MCP server. Of an MCP-style object: its `text` parts joined by newlines, and
 * for every other part what can be written as text, or the name of what cannot (images, sounds, files); without parts its
 * structured content. A string stays as it is, other JSON is serialized. Cut to 4,000 characters, never inside a surrogate
 * pair (contract, tool-results). Lone surrogates are replaced.
 */
export function resultText(result: unknown): string {
  return cutText(wholeResultText(result), RESULT_TEXT_CHARS);
}

/** The same, without the cut. `seen`: the image parts that the model is shown. */
export function wholeResultText(result: unknown, seen: ReadonlySet<unknown> = NONE): string {
  return wholeText(result, seen).toWellFormed();
}

const NONE: ReadonlySet<unknown> = new Set();

function wholeText(result: unknown, seen: ReadonlySet<unknown>): string {
  if (typeof result === "string") return result;
  const { content, structuredContent } = isRecord(result) ? result : {};
  if (!Array.isArray(content)) return JSON.stringify(result) ?? "null";
  // MCP allows a result that has only structured content.
  if (content.length === 0 && structuredContent !== undefined) return wholeText(structuredContent, seen);
  const parts = content.filter(isPart);
  if (parts.length === 0 && content.length > 0) return JSON.stringify(result);
  return parts.flatMap((part) => (seen.has(part) ? SEEN_IMAGE : textOfPart(part)) ?? []).join("\n");
}

/** A part as MCP defines it: an object with a type or a text. Without any the result is plain JSON. */
function isPart(part: unknown): part is Record<string, unknown> {
  return isRecord(part) && (typeof part["type"] === "string" || typeof part["text"] === "string");
}

/** The image itself is not stored: a run that another process has taken over goes on without it. */
const SEEN_IMAGE = "[image: it follows the results; if it does not, it cannot be shown to you]";

/** A part as text, or its name if it cannot be text; null: nothing. */
function textOfPart({
  type,
  text,
  mimeType,
  uri,
  name,
  title,
  resource,
}: Record<string, unknown>): string | null {
  switch (type) {
    case "image":
    case "audio":
      return `[${type}${shown(mimeType)}: it cannot be shown to you]`;
    case "resource_link":
      return `[link${shown(title ?? name)}${shown(uri)}]`;
    case "resource":
      return isRecord(resource) ? resourceText(resource) : null;
    default:
      return typeof text === "string" ? text : null;
  }
}

function resourceText({ text, uri, mimeType }: Record<string, unknown>): string {
  return typeof text === "string" ? text : `[file${shown(uri)}${shown(mimeType)}: it cannot be shown to you]`;
}

function shown(value: unknown): string {
  return typeof value === "string" && value !== "" ? ` ${value}` : "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
