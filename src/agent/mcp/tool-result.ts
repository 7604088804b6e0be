import { cutText } from "../../../machines/line.ts";
import { RESULT_TEXT_CHARS, wholeResultText } from "../../domain/tool-text.ts";
import { isRecord } from "../picked-schema.ts";

const CUT_NOTE = "\n[cut: the rest of this result is not shown]";
const MOST_CHARS = RESULT_TEXT_CHARS - CUT_NOTE.length;

/** What a server's tool answered, as text: of every part what can be told, and what cannot by its name. A cut is marked. */
export function toolResultText(result: Record<string, unknown>): string {
  const { content, structuredContent } = result;
  const parts = Array.isArray(content) ? (content as unknown[]) : [];
  // MCP lets a tool answer in structured content alone.
  if (parts.length === 0 && structuredContent !== undefined) return marked(structuredContent);
  return marked(parts.length === 0 ? result : { content: parts.map((part) => ({ text: textOf(part) })) });
}

function marked(value: unknown): string {
  const text = wholeResultText(value);
  return text.length <= RESULT_TEXT_CHARS ? text : cutText(text, MOST_CHARS) + CUT_NOTE;
}

function textOf(part: unknown): string | null {
  if (!isRecord(part)) return null;
  const { type, text, mimeType, uri, name, title, resource } = part;
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
