import { DOMParser } from "linkedom";
import { addressOf } from "./html.ts";
import { UnreadablePage } from "./page.ts";
import type { ReadPage } from "./page.ts";

/** The pages of a sitemap, or the sitemaps of an index of them (sitemaps.org); a list of addresses as plain text is one, too. */
export function readSitemap(text: string): ReadPage {
  const isXml = text.trimStart().startsWith("<");
  const addresses = isXml ? locationsIn(text) : text.split("\n");
  const links = addresses.flatMap((address) => addressOf(address.trim()) ?? []);
  if (links.length === 0 && text.trim() !== "" && !/<(?:urlset|sitemapindex)[\s>]/.test(text)) {
    throw new UnreadablePage("it is no sitemap");
  }
  const isIndex = /<sitemapindex[\s>]/.test(text);
  return {
    title: "",
    sections: [],
    links: [...new Set(links)],
    ...(isIndex ? { isSitemapIndex: true } : {}),
  };
}

function locationsIn(xml: string): string[] {
  const document = new DOMParser().parseFromString(xml, "text/xml");
  return [...document.querySelectorAll("loc")].map(({ textContent }) => textContent ?? "");
}
