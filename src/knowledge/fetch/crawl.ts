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
  /** Which pages of its source it led to. */
  links: string[];
}

export type Crawled =
  | { type: "read"; url: string; page: ReadPage; known: KnownPage }
  | { type: "unchanged"; url: string }
  /** It is not there any more (`isMissing`), is not to be read, or its owner wants it in no index. */
  | { type: "gone"; url: string; why: string; isMissing?: true }
  /** What was read of it before stays. */
  | { type: "failed"; url: string; why: string };

export interface Crawling {
  fetching: Pick<PageFetch, "get">;
  reader: Pick<Reader, "read">;
  /** What is known of a page from before. */
  known: (url: string) => KnownPage | undefined | Promise<KnownPage | undefined>;
  /** This sync has read it already, before it was interrupted: it is not asked for again. */
  isRead?: (url: string) => boolean;
  /** Waits between two requests to the site, as long as it wants. */
  pause: (leastMs: number) => Promise<void>;
  signal: AbortSignal;
}

const DEPTH = 3;
/** Pages of one source. */
export const MOST_PAGES = 10_000;
const MOST_SITEMAPS = 100;
/** A site that answers nothing more is read later, rather than asked for thousands of pages. */
const MOST_FAILURES = 20;

/**
 * Reads a source page by page, one request at a time, and holds no more than the addresses. Rejects if it cannot begin (its
 * robots.txt, its sitemap or its first page cannot be read), if many pages in a row cannot be read, or with the signal's reason.
 */
export async function* crawl(source: WebSource, crawling: Crawling): AsyncGenerator<Crawled> {
  const { fetching, signal, pause, isRead = () => false } = crawling;
  const start = source.sitemap ?? source.url ?? "";
  const robots = await readRobots(new URL(start).origin, fetching);
  const pages = source.sitemap === undefined ? null : await pagesOfSitemap(source.sitemap, robots, crawling);
  const depth = pages === null ? (source.depth ?? DEPTH) : 0;
  const queue = (pages ?? [start]).slice(0, MOST_PAGES).map((url) => ({ url, depth: 0 }));
  const seen = new Set(queue.map(({ url }) => url));
  const isOfSource = (link: string) => isBelow(link, start, source);
  let isCut = pages !== null && pages.length > MOST_PAGES;
  let failures = 0;
  for (const { url, depth: at } of queue) {
    signal.throwIfAborted();
    const before = await crawling.known(url);
    const isAsked = !isRead(url);
    const crawled: Crawled = isAsked
      ? await crawlPage(url, before, { robots, isOfSource, crawling })
      : { type: "unchanged", url };
    if (url === source.url) mustBegin(crawled);
    failures = crawled.type === "failed" ? failures + 1 : 0;
    if (failures === MOST_FAILURES && "why" in crawled)
      throw new Error(`${MOST_FAILURES} pages in a row cannot be read: ${crawled.why}`);
    // Where a page of the source leads to, or led to when it was read last; what is gone leads nowhere.
    const links = crawled.type === "read" ? crawled.known.links : (before?.links ?? []);
    for (const link of at < depth && crawled.type !== "gone" ? links : []) {
      // What led there before may have been of other settings.
      if (seen.has(link) || !isOfSource(link)) continue;
      if (seen.size >= MOST_PAGES) {
        isCut = true;
        break;
      }
      seen.add(link);
      queue.push({ url: link, depth: at + 1 });
    }
    yield crawled;
    if (isAsked) await pause(robots.delayMs);
  }
  if (isCut) yield { type: "failed", url: start, why: TOO_MANY };
}

/** Of what a source has more than may be read. */
export const TOO_MANY = `it has more than ${MOST_PAGES} pages: the others are not read`;

/** A first page that is away says nothing of those that it led to: they stay. */
function mustBegin(first: Crawled): void {
  const isAway = first.type === "failed" || (first.type === "gone" && first.isMissing);
  if (isAway) throw new Error(`its first page cannot be read: ${first.why}`);
}

/** On the same site, and in the folder of the first page or below it. */
function isBelow(link: string, start: string, source: WebSource): boolean {
  const { origin, pathname } = new URL(link);
  const first = new URL(start);
  const folder = first.pathname.slice(0, first.pathname.lastIndexOf("/") + 1);
  return origin === first.origin && pathname.startsWith(folder) && isWanted(pathname, source);
}

/** Those of the sitemap's own site that are wanted. */
async function pagesOfSitemap(sitemap: string, robots: Robots, crawling: Crawling): Promise<string[]> {
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
    await pause(robots.delayMs);
  }
  // Perhaps it is being written at this moment.
  if (pages.size === 0) throw new Error("its sitemap names no page of its site");
  return [...pages];
}

async function crawlPage(
  url: string,
  before: KnownPage | undefined,
  {
    robots,
    isOfSource,
    crawling,
  }: { robots: Robots; isOfSource: (link: string) => boolean; crawling: Crawling },
): Promise<Crawled> {
  const { fetching, reader, signal } = crawling;
  if (!robots.allows(url)) return { type: "gone", url, why: "robots.txt forbids it" };
  try {
    const answer = await fetching.get(url, before);
    if (answer.status === 304 && before) return { type: "unchanged", url };
    const why = whyGone(answer);
    if (why !== null) return { type: "gone", url, why, isMissing: true };
    if (answer.status !== 200) return { type: "failed", url, why: `status ${answer.status}` };
    const { etag, lastModified, bytes, contentType } = answer;
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (before?.hash === hash) return { type: "unchanged", url };
    const kind = kindOf(contentType, new URL(answer.url).pathname);
    if (kind === null)
      return { type: "gone", url, why: `it cannot be read: ${contentType ?? "of no known type"}` };
    const page = await reader.read({ kind, bytes, url: answer.url });
    if (page.isHidden) return { type: "gone", url, why: "it wants to be in no index" };
    const links = (page.links ?? []).filter(isOfSource);
    return { type: "read", url, page, known: { etag, lastModified, hash, links } };
  } catch (error) {
    signal.throwIfAborted();
    return { type: "failed", url, why: messageOf(error) };
  }
}

function whyGone({ status }: FetchedAnswer): string | null {
  return status === 404 || status === 410 ? `it is not there: status ${status}` : null;
}
