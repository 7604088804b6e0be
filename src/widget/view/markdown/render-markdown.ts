import type { MarkedToken, Token, Tokens } from "marked";
import { cutText } from "../../../../machines/line.ts";
import type { Strings } from "../../strings/strings.ts";
import { tokensOf } from "./block-lexer.ts";
import { SPOKEN_CHARS } from "../panel-module.ts";

/**
 * Renders markdown as DOM nodes, never as a string of HTML: nothing that a model writes becomes markup, and
 * `trusted-types 'none'` allows it. HTML in the text stays text. An image becomes its alt text: fetching an address that
 * a model wrote could leak data.
 */
export function renderMarkdown(
  into: HTMLElement,
  text: string,
  words: Words,
  formulas: RenderFormula | null = null,
): void {
  // Blocks that were rendered without formulas are rendered again.
  if (rendered.get(into)?.formulas !== formulas) into.replaceChildren();
  const tokens = tokensOf(text).filter((token) => token.type !== "space");
  const before = into.hasChildNodes() ? (rendered.get(into)?.blocks ?? []) : [];
  // A growing text changes at its end. Earlier blocks keep their nodes, and with them the visitor's selection.
  let same = 0;
  while (same < tokens.length && before[same] === tokens[same]?.raw) same += 1;
  while (into.childNodes.length > same) into.lastChild?.remove();
  for (const token of tokens.slice(same)) {
    const holder = document.createElement("div");
    asFormula = formulas;
    append(holder, [token]);
    asFormula = null;
    for (const block of holder.querySelectorAll<HTMLElement>(".code")) addCopyButton(block, words);
    into.append(holder);
  }
  rendered.set(into, { blocks: tokens.map((token) => token.raw), formulas });
}

/** The beginning of the text without markdown, as it is read aloud. */
export function plainText(text: string): string {
  const box = document.createElement("div");
  append(box, tokensOf(text.slice(0, 2 * SPOKEN_CHARS)));
  for (const end of box.querySelectorAll("p, h3, h4, li, th, td, pre, br")) end.after(" ");
  return cutText(box.textContent.replace(/\s+/g, " ").trim(), SPOKEN_CHARS);
}

/** Some twenty nested lists. Text that is nested deeper is shown as written: browsers cannot render unlimited depth. */
const MAX_DEPTH = 60;
let depth = 0;

/** Shows a formula in an element; false: it is none that could be read. */
export type RenderFormula = (into: HTMLElement, formula: string) => boolean;

/** The labels of the copy button. */
type Words = Pick<Strings, "copy" | "copied">;

/** What shows a formula for the block that is rendered now; null: it stays as it is written. */
let asFormula: RenderFormula | null = null;

/** The raw text of each block that an element shows, and what its formulas were shown by. */
const rendered = new WeakMap<HTMLElement, { blocks: string[]; formulas: RenderFormula | null }>();

function append(parent: Node, tokens: Token[]): void {
  depth += 1;
  // A cast: Token has a further member for the tokens of extensions, whose type is any string, and none are used here.
  for (const token of tokens as MarkedToken[]) {
    const node = depth > MAX_DEPTH ? document.createTextNode(token.raw) : nodeOf(token);
    if (node !== null) parent.appendChild(node);
  }
  depth -= 1;
}

function nodeOf(token: MarkedToken): Node | null {
  switch (token.type) {
    case "paragraph":
      return element("p", token.tokens);
    case "heading":
      // Below the page's own headings and the panel's.
      return element(token.depth < 3 ? "h3" : "h4", token.tokens);
    case "strong":
    case "em":
    case "del":
    case "blockquote":
      return element(token.type, token.tokens);
    case "list":
      return listElement(token);
    case "list_item":
      return withClass(element("li", token.tokens), token.task ? "task" : null);
    case "checkbox":
      return document.createTextNode(token.checked ? "☑ " : "☐ ");
    case "table":
      return tableElement(token);
    case "code":
      return codeBlock(token.text, token.lang);
    case "codespan":
      return textElement("code", token.text);
    case "link":
      return linkNode(token);
    case "image":
      return document.createTextNode(decoded(token.text));
    case "br":
    case "hr":
      return element(token.type, []);
    case "text":
      return token.tokens === undefined
        ? document.createTextNode(decoded(token.text))
        : fragment(token.tokens);
    case "escape":
      return token.text.length > 1 ? formulaNode(token.text) : document.createTextNode(token.text);
    case "html":
      return document.createTextNode(token.text);
    case "def":
    case "space":
      return null;
  }
}

function element(name: string, tokens: Token[]): HTMLElement {
  const node = document.createElement(name);
  append(node, tokens);
  return node;
}

function withClass(node: HTMLElement, name: string | null): HTMLElement {
  if (name) node.className = name;
  return node;
}

function fragment(tokens: Token[]): DocumentFragment {
  const node = document.createDocumentFragment();
  append(node, tokens);
  return node;
}

function textElement(name: string, text: string): HTMLElement {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
}

function listElement(token: Tokens.List): HTMLElement {
  const node = element(token.ordered ? "ol" : "ul", token.items);
  if (node instanceof HTMLOListElement && typeof token.start === "number") node.start = token.start;
  return node;
}

/** Also with a currency or a unit. It does not wrap. */
const NUMBER = /^[^\d\s]{0,3} ?[-+−]?\d[\d.,'\u00a0\u202f ]{0,20} ?\S{0,4}$/;

function tableElement(token: Tokens.Table): HTMLElement {
  const row = (cells: Tokens.TableCell[], name: string) => {
    const node = document.createElement("tr");
    node.append(
      ...cells.map((cell) => {
        const isNumber = NUMBER.test(cell.text);
        return withClass(
          element(name, cell.tokens),
          [cell.align, isNumber && "number"].filter(Boolean).join(" "),
        );
      }),
    );
    return node;
  };
  const table = document.createElement("table");
  table.append(row(token.header, "th"), ...token.rows.map((cells) => row(cells, "td")));
  return scrollable(table);
}

/** `language`: as the model wrote it, behind the fence. */
function codeBlock(text: string, language = ""): HTMLElement {
  const lines = document.createElement("pre");
  lines.append(textElement("code", text));
  const block = document.createElement("div");
  block.className = "code";
  const name = /^[\w+#.-]{1,20}/.exec(language)?.[0];
  if (name !== undefined) block.append(withClass(textElement("span", name), "language"));
  block.append(scrollable(lines));
  return block;
}

/** A formula, or the text of it in its lines. */
function formulaNode(text: string): Node {
  const box = document.createElement("span");
  if (asFormula?.(box, text) === true) return box;
  box.append(
    ...text.split("\n").flatMap((line, at) => (at === 0 ? [line] : [document.createElement("br"), line])),
  );
  return box;
}

const COPIED_MS = 2_000;

function addCopyButton(block: HTMLElement, { copy, copied }: Words): void {
  // Missing on insecure pages.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip copy";
  button.setAttribute("part", "copy");
  button.textContent = copy;
  button.addEventListener("click", () => {
    const text = block.querySelector("code")?.textContent ?? "";
    void clipboard.writeText(text).then(
      () => {
        button.textContent = copied;
        setTimeout(() => (button.textContent = copy), COPIED_MS);
      },
      // The page's permissions policy may forbid it.
      () => button.remove(),
    );
  });
  block.append(button);
}

/** A box in which wide content scrolls, also by keyboard. */
function scrollable(content: HTMLElement): HTMLElement {
  const box = document.createElement("div");
  box.className = "wide";
  box.tabIndex = 0;
  box.append(content);
  return box;
}

const LINK_PROTOCOLS: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:"]);

function linkNode(token: Tokens.Link): Node {
  const href = decoded(token.href);
  const url = URL.canParse(href, document.baseURI) ? new URL(href, document.baseURI) : null;
  if (url === null || !LINK_PROTOCOLS.has(url.protocol)) return fragment(token.tokens);
  const link = document.createElement("a");
  link.href = url.href;
  link.setAttribute("part", "link");
  // A link within the site opens in this tab, where the conversation continues. Others open a new tab.
  // An address for mail or a call opens another program, and would leave an empty tab.
  if (url.origin !== location.origin && /^https?:/.test(url.protocol)) {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
  }
  append(link, token.tokens);
  return link;
}

const ENTITIES: Partial<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

/** The lexer does not decode character references; these are the ones that models write. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (typeof name === "string") return ENTITIES[name] ?? whole;
    const code = typeof decimal === "string" ? Number(decimal) : parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
