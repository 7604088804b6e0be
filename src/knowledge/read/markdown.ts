import { marked } from "marked";
import type { Token, Tokens } from "marked";
import { createOutline, oneLine } from "./page.ts";
import type { ReadPage } from "./page.ts";

/** A block of data at the top, between lines of three dashes: for programs, not for readers. */
const FRONT_MATTER = /^---\r?\n[\s\S]*?\r?\n---\r?\n/;

/** Markdown (CommonMark and GitHub's tables). Its first heading of level 1 is the title. */
export function readMarkdown(markdown: string): ReadPage {
  const outline = createOutline();
  let title = "";
  const tokens = marked.lexer(markdown.replace(FRONT_MATTER, ""));
  for (const token of tokens) {
    if (token.type === "heading" && token.depth === 1 && title === "") title = oneLine(textOf(token));
    else addBlock(token, outline);
  }
  return { title, sections: outline.sections() };
}

type Outline = ReturnType<typeof createOutline>;

function addBlock(token: Token, outline: Outline): void {
  switch (token.type) {
    case "heading":
      return outline.heading((token as Tokens.Heading).depth, textOf(token));
    case "list":
      for (const item of (token as Tokens.List).items) addBlock(item, outline);
      return;
    case "list_item":
    case "blockquote":
      for (const inner of (token as Tokens.ListItem).tokens) addBlock(inner, outline);
      return;
    case "table": {
      const { header, rows } = token as Tokens.Table;
      for (const row of [header, ...rows]) {
        outline.block(row.map((cell) => oneLine(inlineText(cell.tokens))).join(" | "));
      }
      return;
    }
    case "code":
      return outline.block((token as Tokens.Code).text);
    case "html":
    case "space":
    case "hr":
    case "def":
      return;
    default:
      return outline.block(textOf(token));
  }
}

function textOf(token: Token): string {
  if ("tokens" in token && token.tokens) return inlineText(token.tokens);
  return "text" in token && typeof token.text === "string" ? token.text : "";
}

/** Without marks of emphasis, and with a link's text alone. */
function inlineText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.type === "br" ? " " : token.type === "html" ? "" : textOf(token)))
    .join("");
}
