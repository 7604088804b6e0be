import { isRecord } from "../../is-record.ts";

/**
 * Calls that a model wrote into its text, because its server does not read them there: NousResearch/hermes-agent#87900,
 * vllm-project/vllm#28297 and #19056. Only an answer that is nothing but calls of offered tools counts; anything else is
 * text. Such text waits for the end of the turn, so that no visitor reads it; text that begins otherwise does not wait.
 *
 * The forms, with the models that were trained on them:
 * - `{"name": …, "arguments": {…}}`, `"parameters"` in Llama 3, a list of these, or the API's own call around them
 * - the same in a fence, after `<|python_tag|>` (Llama 3) or `[TOOL_CALLS]` (Mistral)
 * - `<tool_call>{…}</tool_call>`, one after another (Hermes, Qwen)
 * - `<function=NAME>{…}</function>` (Llama 3.1)
 */
export interface TextCallFilter {
  /** Takes the next piece of the reply; returns what is surely text, with what waited before it. */
  push(piece: string): string;
  /** All that follows is text, too: pieces need not come here any more. */
  readonly isText: boolean;
  /** Ends the turn: the calls that the text was, or the text that waited. */
  end(): { calls: WrittenCall[]; text: string };
}

export interface WrittenCall {
  name: string;
  /** JSON text of an object. */
  arguments: string;
}

/** Longer text is no call that the agent would make. */
const MAX_CHARS = 131_072;

/** So much of a text decides whether it may be one. */
const HEAD_CHARS = 256;

const FENCE = "```";
const MARKERS = ["<tool_call>", "<function=", "<|python_tag|>", "[TOOL_CALLS]"];
/** The first key of a call, in any form. */
const FIRST_KEYS = ["name", "type", "id", "function", "tool_calls", "arguments", "parameters"].map(
  (key) => `"${key}"`,
);

/** `offered`: the tools' names. */
export function createTextCallFilter(offered: readonly string[]): TextCallFilter {
  /** The beginning of the text, which decides. */
  let head = "";
  /** What waits: pieces, joined once. */
  let held: string[] = [];
  let chars = 0;
  let isText = false;

  function release(): string {
    const text = held.join("");
    held = [];
    return text;
  }

  return {
    push(piece) {
      if (isText) return piece;
      held.push(piece);
      chars += piece.length;
      if (head.length < HEAD_CHARS) {
        head = (head + piece).slice(0, HEAD_CHARS);
        isText = !mayBeCall(head);
      }
      isText ||= chars > MAX_CHARS;
      return isText ? release() : "";
    },
    get isText() {
      return isText;
    },
    end() {
      const text = release();
      const calls = isText ? null : callsIn(text.trim());
      return areOffered(calls, offered) ? { calls, text: "" } : { calls: [], text };
    },
  };
}

/**
 * Does the text of an answer end in a call, after words of a reply? The visitor has read it by then, and the words may
 * speak of it: so it is none, but an operator should know.
 */
export function endsInCall(text: string, offered: readonly string[]): boolean {
  const trimmed = text.trimEnd();
  if (!"}]>`".includes(trimmed.at(-1) ?? " ")) return false;
  return ["\n{", "\n[", "\n```", ...MARKERS].some((opening) => {
    // A fence's last line is its end.
    const at = trimmed.lastIndexOf(opening, trimmed.length - FENCE.length - 2);
    return at >= 0 && areOffered(callsIn(trimmed.slice(at).trim()), offered);
  });
}

function areOffered(calls: WrittenCall[] | null, offered: readonly string[]): calls is WrittenCall[] {
  return calls !== null && calls.every(({ name }) => offered.includes(name));
}

/** May the text with this beginning be a call? */
function mayBeCall(beginning: string): boolean {
  const head = beginning.trimStart();
  if (head === "") return beginning.length < HEAD_CHARS;
  if (MARKERS.some((marker) => begins(head, marker))) return true;
  if (!head.startsWith("`")) return mayBeCallObject(head);
  const inner = begins(head, FENCE) ? afterLabel(head.slice(FENCE.length)) : null;
  return inner !== null && mayBeCallObject(inner.trimStart());
}

/** What follows the first line of a fence, or its label; null: it is no label. */
function afterLabel(text: string): string | null {
  const end = text.search(/\s/);
  const [label, rest] = end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end)];
  return /^\w*$/.test(label) ? rest : null;
}

function mayBeCallObject(head: string): boolean {
  const object = head.startsWith("[") ? head.slice(1).trimStart() : head;
  if (object === "") return true;
  if (!object.startsWith("{")) return false;
  const first = object.slice(1).trimStart();
  return FIRST_KEYS.some((key) => begins(first, key));
}

/** Does the text begin with this, as far as it goes? */
function begins(text: string, what: string): boolean {
  return text.startsWith(what) || what.startsWith(text);
}

/** The calls that are all of a text; null: it is something else. */
function callsIn(text: string): WrittenCall[] | null {
  if (text.startsWith(FENCE)) {
    const inner = text.endsWith(FENCE) ? afterLabel(text.slice(FENCE.length, -FENCE.length)) : null;
    return inner === null ? null : callsOf(parsed(inner));
  }
  for (const marker of ["<|python_tag|>", "[TOOL_CALLS]"]) {
    if (text.startsWith(marker)) return callsIn(text.slice(marker.length).trim());
  }
  if (text.startsWith("<tool_call>")) return all(parts(text, "<tool_call>", "</tool_call>")?.map(callsIn));
  if (text.startsWith("<function="))
    return all(parts(text, "<function=", "</function>")?.map(callOfFunction));
  return callsOf(parsed(text));
}

/** What stands between the tags, if nothing stands outside of them; the last closing tag may be missing. */
function parts(text: string, opening: string, closing: string): string[] | null {
  const found = text.split(opening).slice(1);
  const inner = found
    .map((part) => part.trim())
    .map((part) => (part.endsWith(closing) ? part.slice(0, -closing.length) : part));
  return inner.some((part) => part.includes(closing)) ? null : inner.map((part) => part.trim());
}

function all(found: readonly (WrittenCall[] | null)[] | null | undefined): WrittenCall[] | null {
  if (!found || found.length === 0 || found.includes(null)) return null;
  return found.flatMap((calls) => calls ?? []);
}

/** `NAME>{…}`; Groq quotes some without the bracket. */
function callOfFunction(text: string): WrittenCall[] | null {
  const [name = "", ...rest] = text.split("{");
  return callsOf({ name: name.trim().replace(">", ""), arguments: parsed(`{${rest.join("{")}`) });
}

function callsOf(value: unknown): WrittenCall[] | null {
  if (Array.isArray(value)) return all(value.map(callsOf));
  if (!isRecord(value)) return null;
  const { name, function: called, tool_calls } = value;
  if (tool_calls !== undefined) return callsOf(tool_calls);
  if (isRecord(called)) return callsOf(called);
  const args = objectIn(value["arguments"] ?? value["parameters"]);
  const tool = name ?? called;
  return typeof tool === "string" && args !== null ? [{ name: tool, arguments: JSON.stringify(args) }] : null;
}

function objectIn(value: unknown): Record<string, unknown> | null {
  const object = typeof value === "string" ? parsed(value) : value;
  return isRecord(object) ? object : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
