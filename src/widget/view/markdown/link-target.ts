/** Where a link leads. */
export interface LinkTarget {
  href: string;
}

/** A longer address, or one with more parentheses in each other, is no link: each `](` may be searched this far. */
const MAX_HREF_CHARS = 4_096;
const MAX_PARENTHESES = 32;
const MAX_TITLE_CHARS = 1_000;
/** CommonMark, Link reference definitions. */
const MAX_LABEL_CHARS = 999;

const SPACES = /[ \t]*\n?[ \t]*/y;
const ANGLED = /<((?:[^<>\\\n]|\\[^\n])*)>/y;
const TITLE = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|\((?:[^()\\]|\\[^])*\)/y;

/** Reads `(address "title")` at this place; null if there is none. */
export function linkTarget(text: string, at: number): (LinkTarget & { end: number }) | null {
  if (text[at] !== "(") return null;
  const begin = at + 1 + lengthAt(SPACES, text, at + 1);
  const isAngled = text[begin] === "<";
  const angled = isAngled ? matchAt(ANGLED, text.slice(begin, begin + MAX_HREF_CHARS), 0) : null;
  if (isAngled && angled === null) return null;
  const end = angled === null ? endOfHref(text, begin) : begin + angled[0].length;
  if (end === null) return null;
  const href = unescaped(angled?.[1] ?? text.slice(begin, end));
  const afterHref = end + lengthAt(SPACES, text, end);
  const title =
    afterHref === end ? 0 : lengthAt(TITLE, text.slice(afterHref, afterHref + MAX_TITLE_CHARS), 0);
  const last = afterHref + title + lengthAt(SPACES, text, afterHref + title);
  return text[last] === ")" ? { href, end: last + 1 } : null;
}

/** The label `[name]` at this place, as it is compared, with its end; null if there is none. */
export function labelAt(text: string, at: number): { label: string; end: number } | null {
  const found = matchAt(/\[((?:[^[\]\\]|\\[^])*)\]/y, text.slice(at, at + MAX_LABEL_CHARS + 2), 0);
  return found === null
    ? null
    : { label: (found[1] ?? "").toLowerCase().replace(/\s+/g, " "), end: at + found[0].length };
}

function endOfHref(text: string, begin: number): number | null {
  let open = 0;
  for (let at = begin; at < begin + MAX_HREF_CHARS; at += 1) {
    const letter = text[at] ?? " ";
    if (letter === "(") open += 1;
    if (open > MAX_PARENTHESES) return null;
    if (letter <= " " || (letter === ")" && open === 0)) return open === 0 ? at : null;
    if (letter === ")") open -= 1;
    if (letter === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) at += 1;
  }
  return null;
}

function unescaped(text: string): string {
  return text.replace(/\\([!-/:-@[-`{-~])/g, "$1");
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  return matchAt(pattern, text, at)?.[0].length ?? 0;
}
