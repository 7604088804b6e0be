import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { isRecord } from "../../is-record.ts";

/** What a server's sentence means. The first group is about the form of a request; learn.ts has a step for each. */
export type Meaning =
  /** It does not know a field or a place of the request: `{place}` or `{field}`, or `names`. */
  | "unknown"
  /** It does not take the value of a field. */
  | "value"
  /** It does not take the form of a tool: `{tool}`, or `{place}`. */
  | "tool"
  /** A place in the schema of some tool, which is not named: `{path}`, and what is wrong there: `{rest}`. */
  | "schemaPlace"
  /** A keyword of tools' schemas: `{field}`. */
  | "keyword"
  | "noTools"
  | "noImages"
  | "noSystemRole"
  | "noToolRole"
  | "twoRoles"
  | "roleOrder"
  | "reasoningField"
  | "unknownCalls"
  | "nineCharIds"
  | "objectArguments"
  | "noThinking"
  | "noContent"
  | "effortNone"
  /** The input is too long: `{limit}` and `{counted}` are numbers of tokens. */
  | "tooLong"
  /** A content filter refused the prompt. */
  | "withheld"
  | "keyRefused"
  /** There is no such model, or none any more. */
  | "gone"
  /** The model wrote something that its server could not read: the same request mostly succeeds. */
  | "again";

/**
 * A whole sentence of a server. In `says`, `{slots}` stand for what differs: names, places and numbers of bounded length;
 * `{any}` for what follows and is not read; `{template}` for llama.cpp's own words before an error of a template, `{litellm}`
 * for a gateway's before what a server said. Quotes
 * of all kinds are alike.
 */
export interface Sentence {
  says: string;
  means: Meaning;
  /** Of a refusal with one of these statuses; absent: 400 or 422. */
  status?: readonly number[];
  /** The field that it is about, if the sentence is about one alone. */
  names?: string;
}

export type Slots = Readonly<Record<string, string>>;

const SLOTS: Readonly<Record<string, string>> = {
  field: "[\\w.$-]{1,64}",
  tool: "[\\w-]{1,64}",
  place: "[\\w.$[\\]/-]{1,300}",
  name: "[^\\s\"'`{}<>]{1,200}",
  n: "\\d{1,9}",
  limit: "\\d{1,9}",
  counted: "\\d{1,9}",
  path: "[^'\\n]{1,300}",
  rest: "[^\\n]{0,500}",
  any: "[^]{0,4000}",
  litellm: "(?:litellm\\.\\w{1,60}: )?\\w{1,40}Exception - ",
  template:
    "(?:-{3,40}\\s{0,9}While executing \\w{1,40} at line \\d{1,6}(?:, column \\d{1,6})?(?: in source:\\n[^\\n]{0,400}\\n {0,400}\\^)?\\s{0,9}Error: )?(?:Jinja Exception: )?",
};

/** Slots that are not read. */
const UNNAMED = new Set(["any", "template", "litellm"]);

const compiled = new WeakMap<Sentence, { pattern: RegExp; own: string }>();

function compile(sentence: Sentence): { pattern: RegExp; own: string } {
  const known = compiled.get(sentence);
  if (known) return known;
  const parts = sentence.says.split(/\{(\w{1,20})\}/);
  const seen = new Set<string>();
  const source = parts.map((part, at) => {
    if (at % 2 === 0) return literal(part);
    const slot = SLOTS[part];
    if (slot === undefined) throw new TypeError(`Cannot read a sentence: it has no slot ${part}`);
    const named = !seen.has(part) && !UNNAMED.has(part);
    seen.add(part);
    return named ? `(?<${part}>${slot})` : `(?:${slot})`;
  });
  const own = parts.filter((_, at) => at % 2 === 0).toSorted((a, b) => b.length - a.length)[0] ?? "";
  // vLLM ends with the error's cause, which is none.
  const made = { pattern: new RegExp(`^${source.join("")}[.!]?(?: None)?$`, "i"), own: plain(own) };
  compiled.set(sentence, made);
  return made;
}

function literal(text: string): string {
  const escaped = text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return escaped.replaceAll(/["'`]/g, "[\"'`]").replaceAll(/\s+/g, String.raw`\s{1,9}`);
}

/** What a message says, if it is one of these sentences as a whole; null: it is none. */
export function hear(
  message: string,
  sentences: readonly Sentence[],
  { status, body }: { status: number; body: ChatCompletionCreateParamsStreaming | null },
): { sentence: Sentence; slots: Slots }[] | null {
  if (message === "") return null;
  const lines = message.split("\n").filter((line) => line.trim() !== "");
  const whole = match(message, sentences, status);
  const heard = whole
    ? [whole]
    : lines.length > 1
      ? lines.map((line) => match(line.trim(), sentences, status))
      : [];
  const all = heard.filter((each) => each !== null);
  // Gemini says one thing in each line: all of them must be known.
  if (all.length === 0 || all.length < heard.length) return null;
  return body && all.some(({ sentence }) => isIn(compile(sentence).own, body)) ? null : all;
}

function match(text: string, sentences: readonly Sentence[], status: number) {
  for (const sentence of sentences) {
    if (!(sentence.status ?? USUAL).includes(status)) continue;
    const found = compile(sentence).pattern.exec(text);
    if (found) return { sentence, slots: found.groups ?? {} };
  }
  return null;
}

const USUAL = [400, 422];
/** Shorter words of a sentence may be in any text. */
const SHORTEST_OWN = 8;

/**
 * Does the request itself contain the sentence's words? Then a server that quotes the request may have written them
 * without meaning them, so nothing is heard.
 */
function isIn(own: string, body: ChatCompletionCreateParamsStreaming): boolean {
  if (own.length < SHORTEST_OWN) return false;
  return anyText(body, (text) => plain(text).includes(own));
}

function anyText(value: unknown, holds: (text: string) => boolean): boolean {
  if (typeof value === "string") return holds(value);
  if (Array.isArray(value)) return value.some((each) => anyText(each, holds));
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([name, each]) => holds(name) || anyText(each, holds));
}

/** As sentences are compared: case, quotes and spaces do not matter. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/["'`]/g, "'").replaceAll(/\s+/g, " ").trim();
}
