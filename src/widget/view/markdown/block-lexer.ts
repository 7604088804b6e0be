import { Lexer } from "marked";
import type { Token, Tokens, TokensList } from "marked";
import { Formulae } from "./formula.ts";
import { inlineTokens } from "./inline-tokens.ts";

/** The blocks of a markdown text, and what is in them. */
export function tokensOf(text: string): Token[] {
  return new BlockLexer().lex(text);
}

/** Quotes and lists in each other. Each level reads its text again. */
const MAX_BLOCK_DEPTH = 20;

/** A formula of its own is searched for its end this far. */
const MAX_FORMULA_CHARS = 20_000;

/** Finds the blocks of a text; what is in them is read by `inlineTokens`. */
class BlockLexer extends Lexer {
  #depth = 0;

  constructor() {
    super({
      gfm: true,
      breaks: true,
      extensions: { block: [formulaBlock], renderers: {}, childTokens: {} },
    });
  }

  /** Text that is nested deeper is shown as written. */
  override blockTokens(src: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], isClipped = false): Token[] {
    if (this.#depth === MAX_BLOCK_DEPTH) {
      tokens.push({ type: "text", raw: src, text: src });
      return tokens;
    }
    this.#depth += 1;
    try {
      return super.blockTokens(src, tokens, isClipped);
    } finally {
      this.#depth -= 1;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    for (const token of inlineTokens(src, this.tokens.links)) tokens.push(token);
    return tokens;
  }
}

/** A formula in lines of its own: what looks like a list or a heading in it is none. */
function formulaBlock(src: string): Tokens.Paragraph | undefined {
  if (!/^ {0,3}(?:\$\$|\\\[)/.test(src)) return undefined;
  const text = src.slice(0, MAX_FORMULA_CHARS).trimStart();
  const end = new Formulae(text).endAt(0);
  if (end === 0 || !/^[^\S\n]*(?:\n|$)/.test(text.slice(end))) return undefined;
  const formula = text.slice(0, end);
  const raw = src.slice(0, src.indexOf(formula) + end);
  return { type: "paragraph", raw, text: formula, tokens: inlineTokens(formula, {}) };
}
