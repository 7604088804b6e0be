import { readDocx } from "./docx.ts";
import { readHtml } from "./html.ts";
import { readMarkdown } from "./markdown.ts";
import type { ReadPage } from "./page.ts";
import { readPdf } from "./pdf.ts";
import { readSitemap } from "./sitemap.ts";
import { readText } from "./text.ts";

/** What can be read; a sitemap has links alone. */
export type PageKind = "html" | "markdown" | "text" | "pdf" | "docx" | "sitemap";

/** A page or a file as it was fetched. */
export interface FetchedPage {
  kind: PageKind;
  bytes: Uint8Array;
  /** Its address, for relative links in it; nothing is fetched. */
  url: string;
}

/** The text of a page, in this thread: an unusual page may take long (reader.ts). Rejects with UnreadablePage. */
export async function readPage({ kind, bytes, url }: FetchedPage): Promise<ReadPage> {
  switch (kind) {
    case "html":
      return readHtml(textOf(bytes), url);
    case "markdown":
      return readMarkdown(textOf(bytes));
    case "text":
      return readText(textOf(bytes));
    case "pdf":
      return readPdf(bytes);
    case "docx":
      return readDocx(bytes);
    case "sitemap":
      return readSitemap(textOf(bytes));
  }
}

const TYPES: Readonly<Record<string, PageKind>> = {
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "markdown",
  "text/plain": "text",
  "application/pdf": "pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
};

const ENDINGS: Readonly<Record<string, PageKind>> = {
  html: "html",
  htm: "html",
  md: "markdown",
  markdown: "markdown",
  txt: "text",
  pdf: "pdf",
  docx: "docx",
};

/** By its `content-type`, or else by the ending of its name; null: it cannot be read. `text/plain` of a `.md` is Markdown. */
export function kindOf(contentType: string | null, name: string): PageKind | null {
  const ending = ENDINGS[/\.([a-z]{2,8})$/i.exec(name)?.[1]?.toLowerCase() ?? ""] ?? null;
  const [type = ""] = (contentType ?? "").split(";");
  const told = TYPES[type.trim().toLowerCase()] ?? null;
  if (told === "text") return ending === "markdown" ? ending : told;
  return contentType === null || type.trim() === "application/octet-stream" ? ending : told;
}

/** UTF-8, or UTF-16 where a mark says so. A byte that is neither becomes the sign for it. */
function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const label =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(label).decode(bytes);
}
