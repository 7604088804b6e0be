/** What is kept of a channel's documents: its sources, their pages, and the passages of these. */
export interface KnowledgeStore {
  sources(slug: string): Promise<KnownSources>;
  /**
   * Only one process at a time reads the sources of a channel: this one does, for so long, unless another does. Each change below
   * by a process that no longer does is refused: false, and nothing was written.
   */
  leaseKnowledge(slug: string, forMs: number): Promise<boolean>;
  releaseKnowledge(slug: string): Promise<void>;
  /** `rev`: the pages have changed. */
  keepSource(slug: string, source: SourceRecord, change?: { rev: string }): Promise<boolean>;
  /** `document`: absent: it stays. */
  keepPage(slug: string, source: string, page: PageRecord, document?: PageDocument): Promise<boolean>;
  dropPages(slug: string, source: string, urls: readonly string[]): Promise<boolean>;
  /** With all its pages. */
  dropSource(slug: string, source: string, change: { rev: string }): Promise<boolean>;
  /** The sources should be read now, by whichever process reads them. */
  wantSync(slug: string, sources: readonly string[]): Promise<void>;
  /** A sync that was wanted up to now has begun. */
  beginWanted(slug: string, source: string, wanted: string): Promise<void>;
  pages(slug: string, source: string): AsyncIterable<PageRecord[]>;
  /** Those that are there, in any order. */
  documents(
    slug: string,
    source: string,
    urls: readonly string[],
  ): Promise<{ url: string; document: PageDocument }[]>;
}

export interface KnownSources {
  /** Another one where pages have changed; null: nothing was ever read. */
  rev: string | null;
  sources: SourceRecord[];
  /** By the source's name: a sync is wanted. */
  wanted: ReadonlyMap<string, string>;
}

export interface SourceRecord {
  name: string;
  /** Of its settings as they were when it was read: with others it is read anew. */
  settings: string;
  /** When it is to be read next, Unix ms. */
  dueAtMs: number;
  /** When it was last read to its end, Unix ms; null: never. */
  readAtMs: number | null;
  pages: number;
  passages: number;
  /** Pages that could not be read the last time. */
  failed: number;
  /** The first of them. */
  failures: PageFailure[];
  /** Why it could not be read to its end; null: it could. */
  fault: string | null;
  /** A sync that has no end yet; null: none has begun since the last one. `anew`: all pages are read, changed or not. */
  sync: { id: string; sinceMs: number; anew: boolean } | null;
}

export interface PageFailure {
  url: string;
  why: string;
}

/** A page, without its text. */
export interface PageRecord {
  url: string;
  title: string;
  etag: string | null;
  lastModified: string | null;
  /** Of its bytes. */
  hash: string;
  passages: number;
  /** Another one with each change of its passages. */
  rev: string;
  /** The sync that saw it last. */
  sync: string;
}

export interface PageDocument {
  /** Where it leads to. */
  links: string[];
  passages: StoredPassage[];
}

export interface StoredPassage {
  heading: string;
  text: string;
  /** What it means, as an embeddings model says it: signed bytes in base64. */
  vector?: string;
}
