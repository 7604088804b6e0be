import { TURN_TEXT_CHARS } from "../../model.ts";

/**
 * Removes a model's thoughts from its reply: `<think>…</think>`, which many open models write into the text; the stream
 * may cut them anywhere.
 *
 * At the head of a turn an opening tag always begins a thought, even if it never ends. Further on, it does only if it
 * is closed, or if the turn is cut inside it or calls tools. Until then the text after the tag waits; if the turn ends
 * normally without a closing tag, that text is part of the reply. In backticks it is text about tags.
 *
 * If the model's template opens the thought itself (`beginsInThought`), only the closing tag arrives. All text waits
 * for it; a turn without one had no thought, unless it was cut or called tools.
 */
export interface ThoughtFilter {
  /** Takes the next piece of the turn; returns the reply's part of it and of earlier pieces. */
  push(piece: string): string;
  /** Ends the turn: returns text that waited for a closing tag. `isCut`: the reply is not whole. */
  end(isCut?: boolean): string;
}

const OPENING = /<(think|thinking|thought)>/i;
const NAMES = ["<think>", "<thinking>", "<thought>"];
const CLOSINGS = new Map([
  ["think", /<\/think>/i],
  ["thinking", /<\/thinking>/i],
  ["thought", /<\/thought>/i],
]);
const ANY_CLOSING = /<\/(think|thinking|thought)>/i;
/** Text that waits in a thought for so long is no reply, whether its end comes or not. */
const MAX_KEPT_CHARS = 1_048_576;
/** White space waits at the head for a thought; more of it than this is a model that has lost its way. */
const MAX_BLANK_CHARS = 1_024;
const LONGEST_CLOSING = "</thinking>".length;

interface OpenThought {
  closing: RegExp;
  /** The end of its text: the closing tag may be cut between pieces. */
  tail: string;
  /** Its text with the opening tag, if it may turn out to be reply: pieces, joined once. */
  kept: string[] | null;
  keptChars: number;
}

export function createThoughtFilter({ beginsInThought = false } = {}): ThoughtFilter {
  /** Only white space and thoughts so far. */
  let isAtHead = true;
  let hasThought = false;
  /** Text that may be the beginning of a tag, or white space before one. */
  let held = "";
  let open: OpenThought | null = beginsInThought
    ? { closing: ANY_CLOSING, tail: "", kept: [], keptChars: 0 }
    : null;
  /** The template opened the current thought. */
  let isTemplates = beginsInThought;
  /** The last character that was passed on. */
  let last = "";

  function pass(text: string): string {
    if (text === "") return "";
    const passed = isAtHead && hasThought ? text.trimStart() : text;
    if (passed === "") return "";
    isAtHead = false;
    last = passed.slice(-1);
    return passed;
  }

  /** Without an open thought: the text up to the next thought. */
  function readText(text: string): string {
    const found = OPENING.exec(text);
    if (found) {
      const before = text.slice(0, found.index);
      const rest = text.slice(found.index);
      const isQuoted = (before === "" ? last : before.slice(-1)) === "`";
      if (isQuoted) return pass(before + found[0]) + read(rest.slice(found[0].length));
      const passed = before.trim() === "" && isAtHead ? "" : pass(before);
      const closing = CLOSINGS.get((found[1] ?? "").toLowerCase()) ?? OPENING;
      // At the head it is never part of the reply.
      open = { closing, tail: "", kept: isAtHead ? null : [], keptChars: 0 };
      return passed + readThought(rest);
    }
    // White space at the head waits: if a thought follows, it belongs to the thought.
    const tagAt = startOfTag(text);
    const waits = isAtHead && text.length <= MAX_BLANK_CHARS && text.slice(0, tagAt).trim() === "";
    const from = waits ? 0 : tagAt;
    held = text.slice(from);
    return pass(text.slice(0, from));
  }

  /** Within a thought: nothing, or the reply after it. */
  function readThought(text: string): string {
    if (!open) return "";
    const seen = open.tail + text;
    const found = open.closing.exec(seen);
    if (!found) {
      open.tail = seen.slice(-LONGEST_CLOSING);
      open.kept?.push(text);
      open.keptChars += text.length;
      // Text longer than a turn's limit is no reply.
      if (open.keptChars > (isTemplates ? TURN_TEXT_CHARS : MAX_KEPT_CHARS)) open.kept = null;
      return "";
    }
    const rest = seen.slice(found.index + found[0].length);
    isTemplates = false;
    open = null;
    hasThought = true;
    return read(rest);
  }

  function read(text: string): string {
    return text === "" ? "" : readText(text);
  }

  return {
    push(piece) {
      if (open) return readThought(piece);
      if (held === "" && !isAtHead && !piece.includes("<")) {
        if (piece !== "") last = piece.slice(-1);
        return piece;
      }
      const text = held + piece;
      held = "";
      return read(text);
    },

    end(isCut = false) {
      const isInThought = open !== null;
      const waited = open ? (open.kept?.join("") ?? "") : held;
      open = null;
      held = "";
      if (isInThought && isCut) return "";
      if (!isTemplates) return waited;
      isTemplates = false;
      return read(waited) + this.end();
    },
  };
}

/** Where a tag may begin at the end of the text; the text's length if none does. */
function startOfTag(text: string): number {
  const at = text.lastIndexOf("<");
  if (at < 0) return text.length;
  const tail = text.slice(at).toLowerCase();
  return NAMES.some((name) => name.startsWith(tail)) ? at : text.length;
}
