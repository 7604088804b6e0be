import type { KnowledgeSource } from "./domain/channels/knowledge.ts";
import type { PageFailure } from "./store.ts";

/**
 * The documents of channels, from which the assistant answers: they are read from their sources, kept in the store and searched
 * in memory. Implemented by knowledge/create-knowledge.ts.
 */
export interface Knowledge {
  /** Reads what is due, from now on. */
  start(): void;
  stop(): Promise<void>;
  /**
   * The passages that answer a question best, the best first, at most `most`; absent: as many as the channel gives to a model.
   * Empty if the channel has no documents, or none has a word of the question.
   */
  search(slug: string, question: string, most?: number): Promise<FoundPassage[]>;
  /** A channel's sources in their order, and how they are. */
  sources(slug: string): Promise<SourceState[]>;
  /** Has them read soon, by whichever instance reads them. */
  sync(slug: string, names: readonly string[]): Promise<void>;
  /** A channel's sources have changed: what is due is looked for at once, if this instance is the one that reads them. */
  changed(slug: string): void;
  /** One sentence for the operator for each source that could not be read. */
  warnings(): string[];
}

/** A piece of a document. */
export interface FoundPassage {
  /** Of the page. */
  title: string;
  /** The headings above it, joined by ` › `; may be empty. */
  heading: string;
  /** Where the page is: an address, or the name of a file. */
  url: string;
  text: string;
  /** The higher the better; comparable within one answer alone. */
  score: number;
}

export interface SourceState {
  source: KnowledgeSource;
  /** `new`: it was never read; `reading`; `read`; `failed`: it could not be read to its end. */
  state: "new" | "reading" | "read" | "failed";
  pages: number;
  passages: number;
  /** When it was last read to its end, Unix ms. */
  readAtMs: number | null;
  /** When it is read next, Unix ms. */
  dueAtMs: number | null;
  /** Pages that could not be read the last time. */
  failed: number;
  /** The first of them. */
  failures: PageFailure[];
  /** Why it could not be read to its end. */
  fault: string | null;
}
