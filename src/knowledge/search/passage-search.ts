import type { KnowledgeStore, PageDocument, PageRecord } from "../../store.ts";
import type { IndexThread } from "./index-thread.ts";
import type { FoundPassage } from "../../knowledge.ts";
import type { IndexedPassage } from "./passage-index.ts";
import { vectorFrom } from "./vectors.ts";
import type { Vector } from "./vectors.ts";

/** Pages whose texts are read at once: some 10 KB each. */
const PAGES_AT_ONCE = 50;

/** Searches the passages of channels as the store has them, so that all instances answer alike. */
export interface PassageSearch {
  /** Follows the changes since the last call; resolves when the index has them. */
  refresh(slug: string): Promise<void>;
  /** Refreshes first. */
  search(slug: string, asked: { question: string; most: number; vector?: Vector }): Promise<FoundPassage[]>;
  /** The channel has no documents any more. */
  drop(slug: string): void;
}

interface Indexed {
  rev: string | null;
  /** Source and url → which text of the page the index has. */
  pages: Map<string, Pick<PageRecord, "rev" | "passages">>;
}

interface Refreshing {
  present: Promise<void>;
  next: Promise<void> | null;
}

export function createPassageSearch({
  store,
  thread,
}: {
  store: Pick<KnowledgeStore, "sources" | "pages" | "documents">;
  thread: IndexThread;
}): PassageSearch {
  const indexed = new Map<string, Indexed>();
  const refreshing = new Map<string, Refreshing>();
  thread.onEnd(() => indexed.clear());

  async function follow(slug: string): Promise<void> {
    const { rev, sources } = await store.sources(slug);
    const has = indexed.get(slug) ?? { rev: null, pages: new Map() };
    if (has.rev === rev) return;
    if (!indexed.has(slug)) await thread.ask({ type: "drop", slug });
    indexed.set(slug, has);
    const left = new Set(has.pages.keys());
    for (const { name } of sources) {
      for await (const pages of store.pages(slug, name)) {
        const changed = pages.filter((page) => {
          left.delete(placeOf(name, page.url));
          return has.pages.get(placeOf(name, page.url))?.rev !== page.rev;
        });
        for (let at = 0; at < changed.length; at += PAGES_AT_ONCE)
          await take(slug, name, { has, pages: changed.slice(at, at + PAGES_AT_ONCE) });
      }
    }
    const remove = [...left].flatMap((place) => idsOf(place, has.pages.get(place)?.passages ?? 0));
    await thread.ask({ type: "change", slug, remove, add: [] });
    for (const place of left) has.pages.delete(place);
    // Whatever came meanwhile has another `rev`.
    has.rev = rev;
  }

  async function take(
    slug: string,
    source: string,
    { has, pages }: { has: Indexed; pages: readonly PageRecord[] },
  ): Promise<void> {
    const urls = pages.map(({ url }) => url);
    const documents = new Map(
      (await store.documents(slug, source, urls)).map(({ url, document }) => [url, document]),
    );
    const known = pages.map((page) => ({ page, place: placeOf(source, page.url) }));
    await thread.ask({
      type: "change",
      slug,
      remove: known.flatMap(({ place }) => idsOf(place, has.pages.get(place)?.passages ?? 0)),
      add: known.flatMap(({ page, place }) => indexedOf(page, place, documents.get(page.url))),
    });
    for (const { page, place } of known) {
      const passages = documents.get(page.url)?.passages.length ?? 0;
      has.pages.set(place, { rev: page.rev, passages });
    }
  }

  // Who comes while one is under way waits for the next: what that one has read may be older than its question.
  function refresh(slug: string): Promise<void> {
    const now = refreshing.get(slug);
    if (now) return (now.next ??= now.present.catch(() => {}).then(() => begin(slug)));
    return begin(slug);
  }

  function begin(slug: string): Promise<void> {
    const present = follow(slug);
    const mine: Refreshing = { present, next: null };
    refreshing.set(slug, mine);
    const ended = () => {
      if (mine.next === null && refreshing.get(slug) === mine) refreshing.delete(slug);
    };
    present.then(ended, ended);
    return present;
  }

  return {
    refresh,

    async search(slug, asked) {
      await refresh(slug);
      return thread.ask({ type: "search", slug, ...asked });
    },

    drop(slug) {
      if (!indexed.delete(slug)) return;
      thread.ask({ type: "drop", slug }).catch(() => {});
    },
  };
}

function placeOf(source: string, url: string): string {
  return `${source} ${url}`;
}

function idsOf(place: string, count: number): string[] {
  return Array.from({ length: count }, (_, nth) => `${nth} ${place}`);
}

function indexedOf(
  { url, title }: PageRecord,
  place: string,
  document: PageDocument | undefined,
): IndexedPassage[] {
  return (document?.passages ?? []).map(({ heading, text, vector }, nth) => ({
    id: `${nth} ${place}`,
    url,
    title,
    heading,
    text,
    ...(vector === undefined ? {} : { vector: vectorFrom(vector) }),
  }));
}
