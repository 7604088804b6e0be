import { createHash } from "node:crypto";
import { messageOf } from "../../errors.ts";
import { kindOf } from "../read/kinds.ts";
import type { ReadPage } from "../read/page.ts";
import type { Reader } from "../read/reader.ts";
import type { FetchedAnswer, PageFetch } from "./page-fetch.ts";
import { isWanted } from "./patterns.ts";
import { readRobots } from "./robots.ts";
import type { Robots } from "./robots.ts";

/** A source on the web: a page and what it leads to, or the pages of a sitemap. */
export interface WebSource {
  /** One of both. */
  url?: string;
  sitemap?: string;
  /** How many links away from `url` a page may be; 0: that page alone. */
  depth?: number;
  include?: string[];
  exclude?: string[];
}

/** What is kept of a page, so that it is read again only if it has changed. */
export interface KnownPage {
  etag: string | null;
  lastModified: string | null;
  /** Of its bytes. */
  hash: string;
  /** Where it led to. */
  links: string[];
}

export type Crawled =
  | { type: "read"; url: string; page: ReadPage; known: KnownPage }
  | { type: "unchanged"; url: string }
  /** It is not there any more, is not to be read, or its owner wants it in no index. */
  | { type: "gone"; url: string; why: string }
  /** What was read of it before stays. */
  | { type: "failed"; url: string; why: string };

export interface Crawling {
  fetching: Pick<PageFetch, "get">;
  reader: Pick<Reader, "read">;
  /** What is known of a page from before. */
  known: (url: string) => KnownPage | undefined | Promise<KnownPage | undefined>;
  /** Waits between two requests to the site. */
  pause: () => Promise<void>;
  signal: AbortSignal;
}

const DEPTH = 3;
/** Pages of one source. */
export const MOST_PAGES = 10_000;
const MOST_SITEMAPS = 100;

/**
 * Reads a source page by page, one request at a time, and holds no more than the addresses. Rejects only if it cannot begin: its
 * robots.txt or its sitemap cannot be read; or with the signal's reason.
 */
export async function* crawl(source: WebSource, crawling: Crawling): AsyncGenerator<Crawled> {
  const { fetching, signal, pause } = crawling;
  const start = source.sitemap ?? source.url ?? "";
  const robots = await readRobots(new URL(start).origin, fetching);
  const pages = source.sitemap === undefined ? null : await pagesOfSitemap(source.sitemap, crawling);
  const depth = pages === null ? (source.depth ?? DEPTH) : 0;
  const queue = (pages ?? [start]).map((url) => ({ url, depth: 0 }));
  const seen = new Set(queue.map(({ url }) => url));
  for (const { url, depth: at } of queue) {
    signal.throwIfAborted();
    const before = await crawling.known(url);
    const crawled = await crawlPage(url, before, robots, crawling);
    // Where a page of the source leads to, or led to when it was read last; what is gone leads nowhere.
    const links = crawled.type === "read" ? crawled.known.links : (before?.links ?? []);
    for (const link of at < depth && crawled.type !== "gone" ? links : []) {
      if (seen.size >= MOST_PAGES || seen.has(link) || !isBelow(link, start, source)) continue;
      seen.add(link);
      queue.push({ url: link, depth: at + 1 });
    }
    yield crawled;
    await pause();
  }
}

/** On the same site, and in the folder of the first page or below it. */
function isBelow(link: string, start: string, source: WebSource): boolean {
  const { origin, pathname } = new URL(link);
  const first = new URL(start);
  const folder = first.pathname.slice(0, first.pathname.lastIndexOf("/") + 1);
  return origin === first.origin && pathname.startsWith(folder) && isWanted(pathname, source);
}

async function pagesOfSitemap(sitemap: string, crawling: Crawling): Promise<string[]> {
  const { fetching, reader, signal, pause } = crawling;
  const { origin } = new URL(sitemap);
  const sitemaps = [sitemap];
  const pages = new Set<string>();
  for (const url of sitemaps) {
    signal.throwIfAborted();
    const { status, bytes } = await fetching.get(url);
    if (status !== 200) throw new Error(`its sitemap ${url} cannot be read: status ${status}`);
    const { links = [], isSitemapIndex } = await reader.read({ kind: "sitemap", bytes, url });
    for (const link of links.filter((one) => new URL(one).origin === origin)) {
      if (!isSitemapIndex) pages.add(link);
      else if (sitemaps.length < MOST_SITEMAPS && !sitemaps.includes(link)) sitemaps.push(link);
    }
    await pause();
  }
  return [...pages].slice(0, MOST_PAGES);
}

async function crawlPage(
  url: string,
  before: KnownPage | undefined,
  robots: Robots,
  crawling: Crawling,
): Promise<Crawled> {
  const { fetching, reader, signal } = crawling;
  if (!robots.allows(url)) return { type: "gone", url, why: "robots.txt forbids it" };
  try {
    const answer = await fetching.get(url, before);
    if (answer.status === 304 && before) return { type: "unchanged", url };
    const why = whyGone(answer);
    if (why !== null) return { type: "gone", url, why };
    if (answer.status !== 200) return { type: "failed", url, why: `status ${answer.status}` };
    const { etag, lastModified, bytes, contentType } = answer;
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (before?.hash === hash) return { type: "unchanged", url };
    const kind = kindOf(contentType, new URL(answer.url).pathname);
    if (kind === null)
      return { type: "gone", url, why: `it cannot be read: ${contentType ?? "of no known type"}` };
    const page = await reader.read({ kind, bytes, url: answer.url });
    if (page.isHidden) return { type: "gone", url, why: "it wants to be in no index" };
    return { type: "read", url, page, known: { etag, lastModified, hash, links: page.links ?? [] } };
  } catch (error) {
    signal.throwIfAborted();
    return { type: "failed", url, why: messageOf(error) };
  }
}

function whyGone({ status }: FetchedAnswer): string | null {
  return status === 404 || status === 410 ? `it is not there: status ${status}` : null;
}
