import { isRecord } from "../../is-record.ts";
import { cutText } from "../../../machines/line.ts";
import { RESULT_TEXT_CHARS } from "../../domain/channels/tool-text.ts";
import { isPutOff } from "./put-off.ts";
import { SIGN_IN_FIRST } from "./sign-in/sign-in-tool.ts";
import { toolResultText } from "./tool-result.ts";
import type { ToolAnswer } from "./tool-result.ts";

/** MCP 2025-11-25, URLElicitationRequiredError: `data` has `elicitations`. */
const SIGN_IN_REQUIRED = -32_042;

const QUESTION_CHARS = 500;
const SHOWN_CHARS = 200;
const MOST_REQUESTS = 5;
const LINK_CHARS = 2_000;

/**
 * A tool that wants something of the visitor before it does its work: an answer to a question, or a visit to a link (MCP
 * 2026-07-28, multi round-trip requests; elicitation). This client cannot continue such a call, so the model is told in an
 * error, and the visitor sees the question or the link in the call's step. `isTold`: the server was told which visitor
 * asks; only then is a link this visitor's own. Null: the tool wants nothing.
 */
export function wantedInput(result: Record<string, unknown>, isTold: boolean): ToolAnswer | null {
  if (result["resultType"] !== "input_required") return null;
  if (isPutOff(result)) {
    return {
      text: "The tool's server put this call off, again and again. It may work later.",
      isError: true,
    };
  }
  const { inputRequests } = result;
  const requests = isRecord(inputRequests) ? Object.values(inputRequests) : [];
  return answerOf(requests.slice(0, MOST_REQUESTS).map(asWant), isTold);
}

/**
 * The same of a tool that asked during its call (MCP 2025-06-18 to 2025-11-25, elicitation/create), was told that nobody
 * answered, and went on: what it did then is in its result.
 */
export function wantedMeanwhile(
  asked: readonly unknown[],
  result: Record<string, unknown>,
  isTold: boolean,
): ToolAnswer | null {
  if (asked.length === 0) return null;
  const { shown } = answerOf(asked.slice(0, MOST_REQUESTS).map(asElicitation), isTold);
  const what = shown === undefined ? "for input that this chat cannot give" : `for input: ${shown}`;
  const text = `The tool asked ${what}\nIt was told that nobody answered, and went on. Its result:\n`;
  return {
    text: cutText(text + toolResultText(result), RESULT_TEXT_CHARS),
    isError: result["isError"] === true,
    ...(shown === undefined ? {} : { shown }),
  };
}

/** The same of an error. */
export function wantedSignIn(error: unknown, isTold: boolean): ToolAnswer | null {
  if (!(error instanceof Error) || !("code" in error) || error.code !== SIGN_IN_REQUIRED) return null;
  const data = "data" in error && isRecord(error.data) ? error.data : {};
  const elicitations = Array.isArray(data["elicitations"]) ? data["elicitations"] : [];
  const wants = elicitations.slice(0, MOST_REQUESTS).map(asElicitation);
  return answerOf(wants.length === 0 ? [{ link: null }] : wants, isTold);
}

/** `link` null: one that cannot be shown. */
type Want = { question: string } | { link: string | null } | { other: string };

function asWant(request: unknown): Want {
  if (!isRecord(request)) return { other: "something unknown" };
  const { method, params } = request;
  if (method === "elicitation/create") return asElicitation(params);
  return { other: typeof method === "string" ? JSON.stringify(cutText(method, 64)) : "something unknown" };
}

function asElicitation(params: unknown): Want {
  const { mode, url, message } = isRecord(params) ? params : {};
  if (mode === "url" || url !== undefined) return { link: safeLink(url) };
  const question = typeof message === "string" ? cutText(message.trim(), QUESTION_CHARS) : "";
  return question === "" ? { other: "something unknown" } : { question };
}

/** In its ASCII form, so that no letter looks like another one; null where a visitor should not be sent there. */
function safeLink(url: unknown): string | null {
  if (typeof url !== "string" || !URL.canParse(url)) return null;
  const { protocol, username, password, href } = new URL(url);
  const isPlain = protocol === "https:" && username === "" && password === "";
  return isPlain && href.length <= LINK_CHARS ? href : null;
}

function answerOf(wants: readonly Want[], isTold: boolean): ToolAnswer {
  const link = wants.flatMap((want) => ("link" in want ? [want.link] : []));
  if (link.length > 0) {
    const [shown = null] = link;
    if (shown !== null && isTold) {
      return { text: SIGN_IN_FIRST, isError: true, shown };
    }
    const text =
      "The visitor must sign in with the tool's own site first, and this chat cannot show them the link. Tell them that it is not possible here.";
    return { text, isError: true };
  }
  const questions = wants.flatMap((want) => ("question" in want ? [want.question] : []));
  if (questions.length > 0) {
    const asked = questions.join(" ");
    const text = `The tool asks for input: ${asked}\nIt did nothing yet. Ask the visitor, and call the tool again if it takes the answer as an argument.`;
    return { text, isError: true, shown: cutText(asked, SHOWN_CHARS) };
  }
  const [other = "something unknown"] = wants.flatMap((want) => ("other" in want ? [want.other] : []));
  return {
    text: `The tool asks for input that this chat cannot give (${other}). It did nothing yet.`,
    isError: true,
  };
}
