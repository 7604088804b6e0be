import type { ModelRequest, ModelTurn } from "../../model.ts";
import { uselessTurn } from "../faults.ts";
import type { OtherMayAnswer } from "../faults.ts";

/**
 * Why a turn is none that a chain should keep: nothing in it, although nothing was said in this run yet, or a call that
 * nobody can read. null: it is one. A filter's silence is an answer, and so is that of an answer that was cut.
 */
export function uselessIn(
  { text, calls, finishReason }: ModelTurn,
  request: ModelRequest,
): OtherMayAnswer | null {
  const unread = calls.find(({ name, arguments: args }) => name === "" || !isJson(args));
  if (unread) return uselessTurn(new Error(`Cannot read a call of ${unread.name || "no name"}`));
  const isAnswer = finishReason === "content_filter" || finishReason === "length";
  const isSilent = text.trim() === "" && calls.length === 0 && !isAnswer;
  return isSilent && !hasSaid(request) ? uselessTurn(new Error("Cannot use the answer: it is empty")) : null;
}

function hasSaid({ messages }: ModelRequest): boolean {
  const question = messages.findLastIndex(({ role }) => role === "user");
  return messages
    .slice(question + 1)
    .some(({ role, content }) => role === "assistant" && content.trim() !== "");
}

/** No arguments at all are those of a tool without parameters. */
function isJson(text: string): boolean {
  if (text.trim() === "") return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
