import { isRecord } from "../../is-record.ts";
import { cutText } from "../../../machines/line.ts";
import { IMAGE_TYPES, MAX_ATTACHMENTS } from "../../domain/threads/attachments.ts";
import { isImageData } from "../../domain/threads/image-data.ts";
import { RESULT_TEXT_CHARS, wholeResultText } from "../../domain/channels/tool-text.ts";

/** What a tool answered, or why it did not. */
export interface ToolAnswer {
  /** At most 4,000 characters. */
  text: string;
  isError: boolean;
  /** What the visitor reads as the text of the call's last step: a question, or a link. */
  shown?: string;
  /** data: URLs of images that the model is to see; absent: none. */
  images?: readonly string[];
}

const CUT_NOTE = "\n[cut: the rest of this result is not shown]";
const MOST_CHARS = RESULT_TEXT_CHARS - CUT_NOTE.length;

/** Of one image, as a data: URL: as long as a message with its images may be (SERVER_MAX_BODY_BYTES). */
const IMAGE_CHARS = 1_048_576;

/** What a server's tool answered. `takesImages`: the channel's model is shown images; as many of a result as of a message. */
export function toolAnswer(result: Record<string, unknown>, takesImages: boolean): ToolAnswer {
  const seen = new Map<unknown, string>();
  const { content } = result;
  for (const part of takesImages && Array.isArray(content) ? content : []) {
    const url = imageOf(part);
    if (url !== null && seen.size < MAX_ATTACHMENTS) seen.set(part, url);
  }
  return {
    text: toolResultText(result, new Set(seen.keys())),
    isError: result["isError"] === true,
    ...(seen.size === 0 ? {} : { images: [...seen.values()] }),
  };
}

/** By the rules for a visitor's images; null: it is none, or cannot be shown. */
function imageOf(part: unknown): string | null {
  const { type, data, mimeType } = isRecord(part) ? part : {};
  if (type !== "image" || typeof data !== "string" || data.length > IMAGE_CHARS) return null;
  if (!IMAGE_TYPES.some((one) => one === mimeType)) return null;
  const url = `data:${String(mimeType)};base64,${data}`;
  return isImageData(url) ? url : null;
}

/** What a server's tool answered, as text, by the rule for every tool. A cut is marked. `seen`: parts that are shown as images. */
export function toolResultText(result: Record<string, unknown>, seen?: ReadonlySet<unknown>): string {
  const text = wholeResultText(result, seen);
  return text.length <= RESULT_TEXT_CHARS ? text : cutText(text, MOST_CHARS) + CUT_NOTE;
}
