import type { KnowledgeSource } from "../../domain/channels/knowledge.ts";
import { isOnDisk } from "../../domain/channels/knowledge.ts";
import type { KnowledgeStore, PageFailure, PageRecord, SourceRecord, StoredPassage } from "../../store.ts";
import { crawl } from "../fetch/crawl.ts";
import type { Crawled, Crawling } from "../fetch/crawl.ts";
import { readFiles } from "../fetch/files.ts";
import { passagesOf } from "../passages.ts";
import type { Passage } from "../passages.ts";

/** Of one page; some 2.4 million characters. */
const MOST_OF_PAGE = 2_000;
/** Failures that are told one by one. */
const MOST_FAILURES = 20;
/** How often others are told of the pages that have come. */
const TOLD_EVERY_MS = 5_000;
const DROPPED_AT_ONCE = 200;
/** Of a page that is read whether it has changed or not. */
const UNKNOWN = { etag: null, lastModified: null, hash: "" };

export interface SourceSync extends Pick<Crawling, "fetching" | "reader" | "pause" | "signal"> {
  store: KnowledgeStore;
  slug: string;
  source: KnowledgeSource;
  /** The source as it is stored, with `sync`: the one that this call begins, or goes on with. */
  record: SourceRecord & { sync: NonNullable<SourceRecord["sync"]> };
  /** Passages of the channel's other sources, and how many it may have together. */
  otherPassages: number;
  mostPassages: number;
  now: () => number;
  newId: () => string;
  /** Adds what passages mean; absent: they are found by their words alone. Rejects if that cannot be known now. */
  embed?: (passages: readonly Passage[], signal: AbortSignal) => Promise<StoredPassage[]>;
}

/** Another process reads the channel's sources by now. */
export class LostLease extends Error {
  constructor() {
    super("another process reads the sources of the channel");
    this.name = "LostLease";
  }
}

/**
 * Reads a source to its end, page by page, each kept as it comes: whoever goes on after a death does not read again what this
 * sync has read. What was not seen until the end is gone. Holds what is known of the pages in memory, never their texts. Answers
 * the source as it is kept then; rejects with why it could not be read, and all that it had stays.
 */
export async function syncSource(sync: SourceSync): Promise<SourceRecord> {
  const { store, slug, source, now, newId } = sync;
  const { name } = source;
  const { id, anew } = sync.record.sync;
  const known = await knownPages(store, slug, name);
  const failures: PageFailure[] = [];
  const stays = new Set<string>();
  let passages = [...known.values()].reduce((sum, page) => sum + page.passages, 0);
  let failed = 0;
  let hasNews = false;
  let toldAtMs = now();

  function fail(failure: PageFailure): void {
    failed += 1;
    stays.add(failure.url);
    if (failures.length < MOST_FAILURES) failures.push(failure);
  }

  const record = (): SourceRecord => ({ ...sync.record, pages: known.size, passages, failed, failures });

  async function tell(change: Partial<SourceRecord> = {}): Promise<SourceRecord> {
    const told = { ...record(), ...change };
    mustHold(await store.keepSource(slug, told, hasNews ? { rev: newId() } : undefined));
    hasNews = false;
    toldAtMs = now();
    return told;
  }

  async function keep(
    page: PageRecord,
    texts?: { links: string[]; passages: StoredPassage[] },
  ): Promise<void> {
    mustHold(await store.keepPage(slug, name, page, texts));
    passages += page.passages - (known.get(page.url)?.passages ?? 0);
    known.set(page.url, page);
    if (texts) hasNews = true;
  }

  async function drop(urls: readonly string[]): Promise<void> {
    for (let at = 0; at < urls.length; at += DROPPED_AT_ONCE) {
      const some = urls.slice(at, at + DROPPED_AT_ONCE);
      mustHold(await store.dropPages(slug, name, some));
      for (const url of some) {
        passages -= known.get(url)?.passages ?? 0;
        known.delete(url);
      }
      hasNews = true;
    }
  }

  async function take(crawled: Crawled): Promise<void> {
    const { url } = crawled;
    const before = known.get(url);
    switch (crawled.type) {
      case "unchanged":
        if (before && before.sync !== id) await keep({ ...before, sync: id });
        return;
      case "gone":
        if (before) await drop([url]);
        return;
      case "failed":
        fail({ url, why: crawled.why });
        return;
      case "read": {
        const all = passagesOf(crawled.page);
        const room = sync.mostPassages - sync.otherPassages - passages + (before?.passages ?? 0);
        const some = all.slice(0, Math.min(MOST_OF_PAGE, room));
        if (some.length < all.length) fail({ url, why: whyCut(all.length, room, sync.mostPassages) });
        const kept = sync.embed
          ? await sync.embed(some, sync.signal)
          : some.map(({ heading, text }) => ({ heading, text }));
        const { links, ...seen } = crawled.known;
        const title = some[0]?.title ?? "";
        const page = { url, title, ...seen, passages: some.length, rev: newId(), sync: id };
        await keep(page, { links, passages: kept });
      }
    }
  }

  const crawling = {
    ...sync,
    known: async (url: string) => {
      const page = known.get(url);
      return page && { ...(anew && page.sync !== id ? UNKNOWN : page), links: await linksOf(sync, url) };
    },
    isRead: (url: string) => known.get(url)?.sync === id,
  };
  for await (const crawled of isOnDisk(source) ? readFiles(source, crawling) : crawl(source, crawling)) {
    try {
      await take(crawled);
    } catch (error) {
      // Named with its page; a page must not keep the others from being read.
      if (error instanceof LostLease || sync.signal.aborted || !(error instanceof CannotEmbed)) throw error;
      fail({ url: crawled.url, why: error.message });
    }
    if (now() - toldAtMs >= TOLD_EVERY_MS) await tell();
  }
  await drop(
    [...known.values()].filter((page) => page.sync !== id && !stays.has(page.url)).map(({ url }) => url),
  );
  return tell({ sync: null, fault: null, readAtMs: now() });
}

/** What passages mean cannot be known: the model that says so does not answer. */
export class CannotEmbed extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "CannotEmbed";
  }
}

function mustHold(isKept: boolean): void {
  if (!isKept) throw new LostLease();
}

function whyCut(count: number, room: number, most: number): string {
  return room < Math.min(count, MOST_OF_PAGE)
    ? `the channel has ${most} passages, and no more fit`
    : `it has ${count} passages: the first ${MOST_OF_PAGE} are kept`;
}

async function knownPages(
  store: KnowledgeStore,
  slug: string,
  source: string,
): Promise<Map<string, PageRecord>> {
  const known = new Map<string, PageRecord>();
  for await (const pages of store.pages(slug, source)) for (const page of pages) known.set(page.url, page);
  return known;
}

/** Files lead nowhere. */
async function linksOf({ store, slug, source }: SourceSync, url: string): Promise<string[]> {
  if (isOnDisk(source)) return [];
  const [found] = await store.documents(slug, source.name, [url]);
  return found?.document.links ?? [];
}
