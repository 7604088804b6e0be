import MiniSearch from "minisearch";
import type { FoundPassage } from "../../knowledge.ts";
import type { Passage } from "../passages.ts";
import { nearness } from "./vectors.ts";
import type { Vector } from "./vectors.ts";
import { wordsOf } from "./words.ts";

/** A passage with its place, as the index holds it. */
export interface IndexedPassage extends Passage {
  /** Unique in the index. */
  id: string;
  /** Of the page, as it is cited. */
  url: string;
  /** What it means (vectors.ts); absent: it is found by its words alone. */
  vector?: Vector;
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
  /**
   * The best first, at most `most`; empty if no word of the question is there. `vector`: what the question means; then both ways
   * are asked, and a passage counts by its places in both (reciprocal rank fusion).
   */
  search(question: string, most: number, vector?: Vector): FoundPassage[];
  size(): number;
}

interface Scored {
  id: string;
  score: number;
}

/** Of each way, so many places for each passage that is wanted are looked at. */
const DEEP = 5;
/** As the authors of the method chose it: the first places do not outweigh everything else. */
const RANK_CONSTANT = 60;

/** The nearest first. */
function byMeaning(passages: Iterable<IndexedPassage>, vector: Vector): Scored[] {
  const near: Scored[] = [];
  for (const { id, vector: its } of passages) if (its) near.push({ id, score: nearness(its, vector) });
  return near.sort((one, other) => other.score - one.score);
}

function fused(ways: readonly Scored[][], most: number): Scored[] {
  const scores = new Map<string, number>();
  for (const way of ways) {
    way.slice(0, most * DEEP).forEach(({ id }, place) => {
      scores.set(id, (scores.get(id) ?? 0) + 1 / (RANK_CONSTANT + place + 1));
    });
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((one, other) => other.score - one.score);
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

    search(question, most, vector) {
      const byWords = index.search(question).map(({ id, score }) => ({ id: String(id), score }));
      const best = vector ? fused([byWords, byMeaning(passages.values(), vector)], most) : byWords;
      return best.slice(0, most).flatMap(({ id, score }): FoundPassage[] => {
        const passage = passages.get(id);
        if (!passage) return [];
        const { title, heading, url, text } = passage;
        return [{ title, heading, url, text, score }];
      });
    },

    size: () => passages.size,
  };
}
