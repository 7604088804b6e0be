import { cutText } from "../../../machines/line.ts";
import { RESULT_TEXT_CHARS, wholeResultText } from "../../domain/channels/tool-text.ts";

/** What a tool answered, or why it did not. */
export interface ToolAnswer {
  /** At most 4,000 characters. */
  text: string;
  isError: boolean;
  /** What the visitor reads as the text of the call's last step: a question, or a link. */
  shown?: string;
}

const CUT_NOTE = "\n[cut: the rest of this result is not shown]";
const MOST_CHARS = RESULT_TEXT_CHARS - CUT_NOTE.length;

/** What a server's tool answered, as text, by the rule for every tool. A cut is marked. */
export function toolResultText(result: Record<string, unknown>): string {
  const text = wholeResultText(result);
  return text.length <= RESULT_TEXT_CHARS ? text : cutText(text, MOST_CHARS) + CUT_NOTE;
}
