import type { MarkedToken, Tokens } from "marked";
import { flankOf } from "./flanking.ts";
import type { Flank } from "./flanking.ts";
import { Formulae } from "./formula.ts";
import { labelAt, linkTarget } from "./link-target.ts";
import type { LinkTarget } from "./link-target.ts";
import { addressAt } from "./plain-address.ts";

/** Link definitions of the text (`[name]: address`), by their label as it is compared. */
export type Definitions = Readonly<Record<string, LinkTarget>>;

/**
 * The inline part of CommonMark 0.31 with GFM's strikethrough and bare addresses, as tokens of the block lexer; a line end
 * is a break. Its time grows with the text's length, whatever the text is: the lexer's own inline rules look through the
 * rest of the text from each delimiter, and take half a minute for 24,000 characters of `a_**`. Beyond CommonMark,
 * emphasis works beside Chinese, Japanese and Korean (flanking.ts), and a formula stays as it is written (formula.ts).
 */
export function inlineTokens(text: string, definitions: Definitions): MarkedToken[] {
  return new InlineReader(text, definitions).read();
}

/** A piece of the text, in a list: what is between two runs becomes their content in one step. */
interface Piece {
  token: MarkedToken;
  /** Its token is what is left of this run. */
  run: Run | null;
  before: Piece | null;
  after: Piece | null;
}

/** A run of `*`, `_` or `~` that may open or close. The runs are a list of their own. */
interface Run extends Flank {
  piece: Piece;
  letter: string;
  /** Where it begins. */
  at: number;
  length: number;
  /** What is left of it, and where that begins: closing takes from its front, opening from its end. */
  left: number;
  leftAt: number;
  below: Run | null;
  above: Run | null;
}

/** A `[` or `![` that may begin a link or an image. */
interface Bracket {
  piece: Piece;
  /** Where its text begins. */
  from: number;
  isImage: boolean;
  /** The newest run before it. */
  run: Run | null;
}

/** Everything up to the next of these is text. */
const SPECIAL = /[\\`*_~[\]<\n$]|!\[/g;
/** Where an address may begin. */
const WORD_START = /(?<![a-z\d])[\w.+-]/gi;
const ALPHANUMERIC = /[a-z\d]/i;
const ESCAPED = /[!-/:-@[-`{-~]/;
const AUTOLINK = /^<(?:([a-z][a-z\d+.-]{1,31}:[^\s<>]*)|([\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d.-]+))>/i;
/** A tag or a comment is text, but nothing in it is markup. */
const TAG =
  /^<(?:\/[a-z][a-z\d-]*\s*|[a-z][a-z\d-]*(?:\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*\/?|!--[^>]*--|\?[^>]*\?|![a-z][^>]*)>/i;
const MAX_TAG_CHARS = 1_000;

class InlineReader {
  readonly #text: string;
  readonly #definitions: Definitions;
  readonly #hasDefinitions: boolean;
  readonly #formulae: Formulae;
  #at = 0;
  /** The list of pieces begins after this one. */
  readonly #head: Piece = { token: textToken(""), run: null, before: null, after: null };
  #last = this.#head;
  #run: Run | null = null;
  readonly #brackets: Bracket[] = [];
  /** Brackets below this one begin no link: there is a link within them. */
  #linkedBelow = 0;
  /** Where runs of backticks begin, by their length, the first one last. */
  #ticks: Map<number, number[]> | null = null;

  constructor(text: string, definitions: Definitions) {
    this.#text = text;
    this.#definitions = definitions;
    this.#hasDefinitions = Object.keys(definitions).length > 0;
    this.#formulae = new Formulae(text);
  }

  read(): MarkedToken[] {
    while (this.#at < this.#text.length) this.#readPiece();
    this.#pair(null);
    return tokensFrom(this.#head.after);
  }

  #readPiece(): unknown {
    const text = this.#text;
    switch (text[this.#at] ?? "") {
      case "\\":
        return this.#readFormula() || this.#readBackslash();
      case "$":
        return this.#readFormula() || this.#readText();
      case "`":
        return this.#readCode();
      case "*":
      case "_":
      case "~":
        return this.#readRun();
      case "!":
        return text[this.#at + 1] === "[" ? this.#readBracket("![") : this.#readText();
      case "[":
        return this.#readBracket("[");
      case "]":
        return this.#readClosing();
      case "<":
        return this.#readAngle();
      case "\n":
        this.#add({ type: "br", raw: /\n[ \t]*/.exec(text.slice(this.#at, this.#at + 100))?.[0] ?? "\n" });
        return;
      default:
        return this.#readText();
    }
  }

  #readFormula(): boolean {
    const end = this.#formulae.endAt(this.#at);
    const raw = this.#text.slice(this.#at, end);
    if (end > 0) this.#add({ type: "escape", raw, text: raw });
    return end > 0;
  }

  #add(token: MarkedToken): Piece {
    const piece: Piece = { token, run: null, before: this.#last, after: null };
    this.#last.after = piece;
    this.#last = piece;
    this.#at += token.raw.length;
    return piece;
  }

  /** As it is written, in its lines. */
  #addLiteral(text: string): void {
    for (const line of text.split(/(?<=\n)/)) {
      this.#add({ type: "escape", raw: line, text: line.replace(/\n$/, "") });
      if (line.endsWith("\n")) this.#insertBreak();
    }
  }

  #insertBreak(): void {
    this.#add({ type: "br", raw: "" });
  }

  /** Text up to the next character that may mean something; a bare address in it becomes a link. */
  #readText(): void {
    const text = this.#text;
    const from = this.#at;
    SPECIAL.lastIndex = from + 1;
    const end = SPECIAL.exec(text)?.index ?? text.length;
    for (const { index } of text.slice(from, end).matchAll(WORD_START)) {
      if (index === 0 && ALPHANUMERIC.test(text[from - 1] ?? "")) continue;
      const address = addressAt(text, from + index);
      if (address === null) continue;
      if (index > 0) this.#add(textToken(text.slice(from, from + index)));
      this.#add(linkToken(address.raw, address.href, [textToken(address.raw)]));
      return;
    }
    this.#add(textToken(text.slice(from, end)));
  }

  #readBackslash(): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (next === "\n") this.#add({ type: "br", raw: "\\\n" });
    else if (ESCAPED.test(next)) this.#add({ type: "escape", raw: `\\${next}`, text: next });
    else this.#add(textToken("\\"));
  }

  #readCode(): void {
    const text = this.#text;
    const begin = this.#at;
    const length = runLength(text, begin);
    this.#ticks ??= ticksOf(text);
    const places = this.#ticks.get(length) ?? [];
    while ((places.at(-1) ?? Infinity) <= begin) places.pop();
    const end = places.at(-1);
    if (end === undefined) return void this.#add(textToken("`".repeat(length)));
    const content = text.slice(begin + length, end).replace(/\n/g, " ");
    const isPadded = /^ .* $/.test(content) && content.trim() !== "";
    const code = isPadded ? content.slice(1, -1) : content;
    this.#add({ type: "codespan", raw: text.slice(begin, end + length), text: code });
  }

  #readRun(): void {
    const text = this.#text;
    const start = this.#at;
    const letter = text[start] ?? "";
    const length = runLength(text, start);
    const flank = flankOf(text, start, start + length);
    const piece = this.#add(textToken(text.slice(start, start + length)));
    const isNone = letter === "~" && length > 2;
    if (isNone || (!flank.canOpen && !flank.canClose)) return;
    const below = this.#run;
    const run: Run = {
      ...flank,
      piece,
      letter,
      at: start,
      length,
      left: length,
      leftAt: start,
      below,
      above: null,
    };
    piece.run = run;
    if (below !== null) below.above = run;
    this.#run = run;
  }

  #readBracket(raw: "[" | "!["): void {
    const run = this.#run;
    const piece = this.#add(textToken(raw));
    this.#brackets.push({ piece, from: this.#at, isImage: raw === "![", run });
  }

  #readClosing(): void {
    const bracket = this.#brackets.pop();
    const end = this.#at;
    const target = bracket === undefined ? null : this.#targetOf(bracket, end);
    if (bracket === undefined || target === null) return void this.#add(textToken("]"));
    const { piece, from, isImage, run } = bracket;
    this.#pair(run);
    const tokens = tokensFrom(piece.after);
    const inner = this.#text.slice(from, end);
    const raw = this.#text.slice(from - piece.token.raw.length, target.end);
    piece.token = isImage
      ? { type: "image", raw, href: target.href, title: null, text: inner, tokens }
      : linkToken(raw, target.href, tokens.flatMap(withoutLinks));
    piece.after = null;
    this.#last = piece;
    this.#at = target.end;
    if (!isImage) this.#linkedBelow = this.#brackets.length;
  }

  #targetOf({ isImage, from }: Bracket, end: number): (LinkTarget & { end: number }) | null {
    const isLinked = this.#brackets.length < this.#linkedBelow;
    this.#linkedBelow = Math.min(this.#linkedBelow, this.#brackets.length);
    if (isLinked && !isImage) return null;
    const inline = linkTarget(this.#text, end + 1);
    if (inline !== null || !this.#hasDefinitions) return inline;
    const own = labelAt(this.#text, from - 1);
    const named = labelAt(this.#text, end + 1);
    const label = named?.label || (own?.end === end + 1 ? own.label : "");
    const found = Object.hasOwn(this.#definitions, label) ? this.#definitions[label] : undefined;
    return found === undefined ? null : { href: found.href, end: named?.end ?? end + 1 };
  }

  #readAngle(): void {
    const ahead = this.#text.slice(this.#at, this.#at + MAX_TAG_CHARS);
    const [raw, address, mail] = AUTOLINK.exec(ahead) ?? [];
    if (raw !== undefined) {
      const tokens = [textToken(raw.slice(1, -1))];
      this.#add(linkToken(raw, mail === undefined ? (address ?? "") : `mailto:${mail}`, tokens));
      return;
    }
    const tag = TAG.exec(ahead)?.[0];
    if (tag === undefined) this.#add(textToken("<"));
    else this.#addLiteral(tag);
  }

  /**
   * Pairs the runs above `bottom` (CommonMark, An algorithm for parsing nested emphasis and links). A search that found
   * nothing is not made again below its place, so all searches together pass each run a few times.
   */
  #pair(bottom: Run | null): void {
    const searched = new Map<string, number>();
    let closer = this.#run === bottom ? null : this.#run;
    while (closer !== null && closer.below !== bottom) closer = closer.below;
    while (closer !== null) {
      if (!closer.canClose) {
        closer = closer.above;
        continue;
      }
      const kind = `${closer.letter}${closer.canOpen}${closer.letter === "~" ? closer.length : closer.length % 3}`;
      const limit = searched.get(kind) ?? 0;
      const isWithin = (run: Run | null) => run !== null && run !== bottom && run.at >= limit;
      let opener = closer.below;
      while (opener !== null && isWithin(opener) && !isPair(opener, closer)) opener = opener.below;
      if (opener === null || !isWithin(opener)) {
        searched.set(kind, closer.at);
        const next: Run | null = closer.above;
        if (!closer.canOpen) this.#remove(closer);
        closer = next;
        continue;
      }
      wrap(this.#text, opener, closer);
      for (let between = closer.below; between !== null && between !== opener; between = closer.below)
        this.#remove(between);
      if (opener.left === 0) this.#remove(opener);
      if (closer.left > 0) continue;
      const next: Run | null = closer.above;
      this.#remove(closer);
      closer = next;
    }
    this.#run = bottom;
    if (bottom !== null) bottom.above = null;
  }

  #remove({ above, below }: Run): void {
    if (below !== null) below.above = above;
    if (above === null) this.#run = below;
    else above.below = below;
  }
}

function isPair(opener: Run, closer: Run): boolean {
  if (opener.letter !== closer.letter || !opener.canOpen) return false;
  if (opener.letter === "~") return opener.length === closer.length;
  const isEither = opener.canClose || closer.canOpen;
  return !isEither || closer.length % 3 === 0 || (opener.length + closer.length) % 3 !== 0;
}

/** What is between the two becomes their content. */
function wrap(source: string, opener: Run, closer: Run): void {
  const isDeleted = opener.letter === "~";
  const used = isDeleted ? opener.length : Math.min(2, opener.left, closer.left);
  const last = closer.piece.before;
  if (last !== null) last.after = null;
  const tokens = last === opener.piece ? [] : tokensFrom(opener.piece.after);
  opener.left -= used;
  closer.left -= used;
  closer.leftAt += used;
  // What is left of the opener is before the content, what is left of the closer after it.
  const raw = source.slice(opener.leftAt + opener.left, closer.leftAt);
  const type = isDeleted ? "del" : used === 2 ? "strong" : "em";
  const token = { type, raw, text: raw.slice(used, -used), tokens } as const;
  const piece: Piece = { token, run: null, before: opener.piece, after: closer.piece };
  opener.piece.after = piece;
  closer.piece.before = piece;
}

/** The tokens of a list of pieces; neighbouring texts are one. */
function tokensFrom(first: Piece | null): MarkedToken[] {
  const tokens: MarkedToken[] = [];
  let texts: string[] = [];
  const endText = () => {
    const text = texts.join("");
    if (text !== "") tokens.push(textToken(text));
    texts = [];
  };
  for (let piece = first; piece !== null; piece = piece.after) {
    const { token, run } = piece;
    if (token.type === "text") texts.push(run === null ? token.raw : run.letter.repeat(run.left));
    else {
      endText();
      tokens.push(token);
    }
  }
  endText();
  return tokens;
}

/** A bare address within a link is text. */
function withoutLinks(token: MarkedToken): MarkedToken[] {
  if (token.type === "link") return token.tokens.flatMap((inner) => withoutLinks(inner as MarkedToken));
  if (token.type !== "em" && token.type !== "strong" && token.type !== "del") return [token];
  return [{ ...token, tokens: token.tokens.flatMap((inner) => withoutLinks(inner as MarkedToken)) }];
}

function textToken(text: string): Tokens.Text {
  return { type: "text", raw: text, text };
}

function linkToken(raw: string, href: string, tokens: MarkedToken[]): Tokens.Link {
  return { type: "link", raw, href, title: null, text: raw, tokens };
}

function runLength(text: string, start: number): number {
  let end = start;
  while (text[end] === text[start]) end += 1;
  return end - start;
}

function ticksOf(text: string): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (const { index, 0: run } of [...text.matchAll(/`+/g)].reverse()) {
    const known = places.get(run.length);
    if (known === undefined) places.set(run.length, [index]);
    else known.push(index);
  }
  return places;
}
