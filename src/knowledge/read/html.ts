import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { createOutline, oneLine } from "./page.ts";
import type { ReadPage } from "./page.ts";

/** Less main text than this is taken for a page that has no article: then all of its body is read. */
const LEAST_CHARS = 140;
/** Around the text of a page, and nothing of it. */
const BESIDE =
  "script, style, noscript, template, svg, nav, header, footer, aside, form, iframe, [hidden], [aria-hidden=true]";

/** The main text of an HTML page, by its headings. Nothing is fetched, and no script runs. */
export function readHtml(html: string, url: string): ReadPage {
  const document = documentOf(html);
  const title = oneLine((document.querySelector("title") ?? document.querySelector("h1"))?.textContent ?? "");
  const robots =
    document.querySelector('meta[name="robots" i]')?.getAttribute("content")?.toLowerCase() ?? "";
  const links = robots.includes("nofollow") ? [] : linksOf(document, url);
  const article = articleOf(html, url);
  const body = article === null ? bodyOf(document) : documentOf(article).body;
  return {
    title,
    sections: sectionsOf(body, title),
    links,
    ...(robots.includes("noindex") ? { isHidden: true } : {}),
  };
}

/** Absolute, each once. */
function linksOf(document: Parsed, url: string): string[] {
  const base = addressOf(document.querySelector("base[href]")?.getAttribute("href") ?? "", url) ?? url;
  const links = new Set<string>();
  for (const link of document.querySelectorAll("a[href]")) {
    const address = addressOf(link.getAttribute("href") ?? "", base);
    if (address !== null && !(link.getAttribute("rel") ?? "").includes("nofollow")) links.add(address);
  }
  return [...links];
}

/** Of a page of the web, without its fragment; null: it is none. */
export function addressOf(href: string, base?: string): string | null {
  if (!URL.canParse(href, base)) return null;
  const address = new URL(href, base);
  if (address.protocol !== "https:" && address.protocol !== "http:") return null;
  address.hash = "";
  return address.href;
}

/** A fragment that has no frame around its text: what a converter made of a document. */
export function readFragment(html: string): ReadPage {
  const { body } = documentOf(html);
  const title = oneLine(body.querySelector("h1")?.textContent ?? "");
  return { title, sections: sectionsOf(body, title) };
}

/** A page may leave out `html` and `body`, as the standard lets it; the parser here does not put them in. */
function documentOf(html: string): Parsed {
  const whole =
    /<html[\s>]/i.test(html) && /<body[\s>]/i.test(html)
      ? html
      : `<!doctype html><html><body>${html}</body></html>`;
  const { document } = parseHTML(whole);
  return document;
}

/** null: there is no article, or the library fails at the page. It changes its document, and so gets one of its own. */
function articleOf(html: string, url: string): string | null {
  const document = documentOf(html);
  const base = document.createElement("base");
  base.setAttribute("href", url);
  document.head.append(base);
  try {
    const article = new Readability(document as never, { charThreshold: LEAST_CHARS }).parse();
    const text = article?.textContent?.trim() ?? "";
    return article?.content && text.length >= LEAST_CHARS ? article.content : null;
  } catch {
    return null;
  }
}

type Parsed = ReturnType<typeof parseHTML>["document"];

function bodyOf(document: Parsed): Parsed["body"] {
  for (const beside of document.querySelectorAll(BESIDE)) beside.remove();
  return document.querySelector<Parsed["body"]>("main") ?? document.body;
}

const HEADING = /^H([1-6])$/;
const BLOCKS = new Set([
  "P",
  "LI",
  "PRE",
  "BLOCKQUOTE",
  "DT",
  "DD",
  "FIGCAPTION",
  "CAPTION",
  "ADDRESS",
  "SUMMARY",
]);
const SKIPPED = new Set(["TITLE", "SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SVG", "IFRAME"]);

interface SomeNode {
  nodeType: number;
  nodeName: string;
  textContent: string | null;
  childNodes: Iterable<SomeNode>;
}

function sectionsOf(body: unknown, title: string): ReadPage["sections"] {
  const outline = createOutline();
  let loose = "";

  function endLoose(): void {
    outline.block(loose);
    loose = "";
  }

  function walk(node: SomeNode): void {
    const name = node.nodeName.toUpperCase();
    if (node.nodeType === 3) loose += node.textContent ?? "";
    if (node.nodeType !== 1 || SKIPPED.has(name)) return;
    const level = HEADING.exec(name)?.[1];
    if (level !== undefined) {
      endLoose();
      const text = oneLine(node.textContent ?? "");
      // The title is known: as a heading of all, it would say nothing.
      if (text !== title) outline.heading(Number(level), text);
      return;
    }
    if (name === "TR") {
      endLoose();
      const cells = [...node.childNodes].filter(({ nodeType }) => nodeType === 1);
      return outline.block(cells.map((cell) => oneLine(cell.textContent ?? "")).join(" | "));
    }
    const isBlock = BLOCKS.has(name);
    if (isBlock || INLINE.has(name) === false) endLoose();
    for (const child of node.childNodes) walk(child);
    if (isBlock || INLINE.has(name) === false) endLoose();
  }

  walk(body as SomeNode);
  endLoose();
  return outline.sections();
}

const INLINE = new Set(
  "A B I U S EM STRONG SPAN CODE SMALL SUB SUP MARK KBD ABBR CITE Q TIME LABEL FONT IMG".split(" "),
);
