import { Lexer } from "marked";
import type { MarkedToken, Token, Tokens } from "marked";

/**
 * Markdown to DOM nodes, without a string of HTML on the way: nothing that a model writes can become markup, and a page
 * under `trusted-types 'none'` has nothing to object to. HTML in the text stays text. An image becomes its alt text:
 * an address that a model wrote would be fetched, and could carry data away.
 */
export function renderMarkdown(into: HTMLElement, text: string): void {
  const tokens = new Lexer({ gfm: true, breaks: true }).lex(text).filter((token) => token.type !== "space");
  const before = rendered.get(into) ?? [];
  // A growing text changes at its end: what is the same block as before stays the same node, selection included.
  let same = 0;
  while (same < tokens.length && before[same] === tokens[same]?.raw) same += 1;
  while (into.childNodes.length > same) into.lastChild?.remove();
  for (const token of tokens.slice(same)) {
    const holder = document.createElement("div");
    append(holder, [token]);
    into.append(holder);
  }
  rendered.set(
    into,
    tokens.map((token) => token.raw),
  );
}

/** The raw text of each block that an element shows. */
const rendered = new WeakMap<HTMLElement, string[]>();

function append(parent: Node, tokens: Token[]): void {
  for (const token of tokens as MarkedToken[]) {
    const node = nodeOf(token);
    if (node !== null) parent.appendChild(node);
  }
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
      return listOf(token);
    case "list_item":
      return element("li", token.tokens);
    case "checkbox":
      return document.createTextNode(token.checked ? "☑ " : "☐ ");
    case "table":
      return tableOf(token);
    case "code":
      return codeBlock(token.text);
    case "codespan":
      return withText("code", token.text);
    case "link":
      return linkOf(token);
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

function fragment(tokens: Token[]): DocumentFragment {
  const node = document.createDocumentFragment();
  append(node, tokens);
  return node;
}

function withText(name: string, text: string): HTMLElement {
  const node = document.createElement(name);
  node.textContent = text;
  return node;
}

function listOf(token: Tokens.List): HTMLElement {
  const node = element(token.ordered ? "ol" : "ul", token.items);
  if (node instanceof HTMLOListElement && typeof token.start === "number") node.start = token.start;
  return node;
}

function tableOf(token: Tokens.Table): HTMLElement {
  const row = (cells: Tokens.TableCell[], name: string) => {
    const node = document.createElement("tr");
    node.append(...cells.map((cell) => element(name, cell.tokens)));
    return node;
  };
  const table = document.createElement("table");
  table.append(row(token.header, "th"), ...token.rows.map((cells) => row(cells, "td")));
  return scrollable(table);
}

function codeBlock(text: string): HTMLElement {
  const block = document.createElement("pre");
  block.append(withText("code", text));
  return scrollable(block);
}

/** Wide content scrolls by itself; a keyboard reaches it. */
function scrollable(content: HTMLElement): HTMLElement {
  const box = document.createElement("div");
  box.className = "wide";
  box.tabIndex = 0;
  box.append(content);
  return box;
}

const LINK_PROTOCOLS: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:"]);

function linkOf(token: Tokens.Link): Node {
  const href = decoded(token.href);
  const url = URL.canParse(href, document.baseURI) ? new URL(href, document.baseURI) : null;
  if (url === null || !LINK_PROTOCOLS.has(url.protocol)) return fragment(token.tokens);
  const link = document.createElement("a");
  link.href = url.href;
  // A link into the shop goes there in this tab: the conversation comes along. Others open beside it.
  if (url.origin !== location.origin) link.target = "_blank";
  link.rel = "noopener noreferrer nofollow";
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

/** The lexer leaves character references as they are; these are the ones that models write. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (typeof name === "string") return ENTITIES[name] ?? whole;
    const code = typeof decimal === "string" ? Number(decimal) : parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
