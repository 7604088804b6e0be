import MiniSearch from "minisearch";
import type { Passage } from "./passages.ts";
import { wordsOf } from "./words.ts";

/** A passage with its place, as the index holds it. */
export interface IndexedPassage extends Passage {
  /** Unique in the index. */
  id: string;
  /** Of the page, as it is cited. */
  url: string;
}

export interface FoundPassage extends IndexedPassage {
  /** The higher the better; comparable within one answer alone. */
  score: number;
}

/** Passages that an index holds at most: some 250 MB. */
export const MOST_PASSAGES = 50_000;

/**
 * Full text over the passages of one channel, in memory (MiniSearch, BM25+). What a heading or a title says counts more than
 * the text below it. A word of a question also finds words that begin with it.
 */
export interface PassageIndex {
  /** Replaces a passage of the same id. */
  add(passages: readonly IndexedPassage[]): void;
  remove(ids: readonly string[]): void;
  /** The best first, at most `most`; empty if no word of the question is there. */
  search(question: string, most: number): FoundPassage[];
  size(): number;
}

const BOOST = { title: 2, heading: 3 };
/** Shorter words are beginnings of too many others. */
const LEAST_PREFIX = 4;

export function createPassageIndex(): PassageIndex {
  const passages = new Map<string, IndexedPassage>();
  const index = new MiniSearch<IndexedPassage>({
    fields: ["title", "heading", "text"],
    tokenize: wordsOf,
    processTerm: (word) => word,
    searchOptions: { boost: BOOST, prefix: (word) => word.length >= LEAST_PREFIX },
  });

  return {
    add(added) {
      for (const passage of added) {
        if (passages.has(passage.id)) index.replace(passage);
        else index.add(passage);
        passages.set(passage.id, passage);
      }
    },

    remove(ids) {
      for (const id of ids) {
        if (passages.delete(id)) index.discard(id);
      }
    },

    search: (question, most) =>
      index.search(question).flatMap(({ id, score }, nth): FoundPassage[] => {
        const passage = nth < most ? passages.get(String(id)) : undefined;
        return passage ? [{ ...passage, score }] : [];
      }),

    size: () => passages.size,
  };
}
