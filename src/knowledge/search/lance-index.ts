import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FoundPassage } from "../../knowledge.ts";
import { fileOfPackage } from "../../owners-package.ts";
import type { IndexRequest, IndexThread } from "./index-thread.ts";
import { DEEP, fused } from "./passage-index.ts";
import type { IndexedPassage } from "./passage-index.ts";
import type { Vector } from "./vectors.ts";
import { wordsOf } from "./words.ts";

/** The package that an owner installs, and what of it is used: https://lancedb.github.io/lancedb/js/. */
const PACKAGE = "@lancedb/lancedb";
interface Lance {
  connect(folder: string): Promise<Database>;
  Index: { fts(options: object): unknown };
  MultiMatchQuery: new (query: string, columns: string[], options: { boosts: number[] }) => object;
}
interface Database {
  createTable(name: string, rows: Row[], options: { mode: "overwrite" }): Promise<Table>;
  close(): void;
}
interface Table {
  add(rows: Row[]): Promise<unknown>;
  delete(where: string): Promise<unknown>;
  createIndex(column: string, options: { config: unknown }): Promise<void>;
  optimize(): Promise<unknown>;
  search(query: object, type: "fts"): Found;
  vectorSearch(vector: number[]): Found & { distanceType(type: "cosine"): Found };
}
interface Found {
  limit(most: number): Found;
  toArray(): Promise<Row[]>;
}
interface Row extends Record<string, unknown> {
  id: string;
  title: string;
  heading: string;
  url: string;
  text: string;
  _score?: number;
}

/** As the index in memory has it: a title or a heading says more than the text below it. */
const COLUMNS = ["words", "head"];
const BOOSTS = [1, 2];
/** The words are divided by us, so that both indexes find alike. */
const AS_THEY_ARE = {
  baseTokenizer: "whitespace",
  lowercase: false,
  stem: false,
  removeStopWords: false,
  asciiFolding: false,
  withPosition: false,
};
/** Ids in one deletion. */
const DROPPED_AT_ONCE = 500;

/**
 * Indexes on the disk, for channels with more passages than memory should hold. Each process makes its own, in a folder that goes
 * with it: what counts is in the store. Rejects with a sentence that has what to install.
 */
export async function createLanceIndex(): Promise<IndexThread> {
  const file = fileOfPackage(PACKAGE);
  if (file === null)
    throw new Error(`"index": "lancedb" needs the package ${PACKAGE}: npm install ${PACKAGE}`);
  // A cast: the package is the owner's, and known by its documentation.
  const lance = (await import(pathToFileURL(file).href)) as Lance;
  const folder = await mkdtemp(join(tmpdir(), "chat-agent-index-"));
  const database = await lance.connect(folder);
  const tables = new Map<string, Table>();
  let last: Promise<unknown> = Promise.resolve();
  let onEnd = () => {};

  async function add(slug: string, passages: readonly IndexedPassage[]): Promise<void> {
    if (passages.length === 0) return;
    const rows = passages.map(rowOf);
    const table = tables.get(slug);
    if (table) {
      await table.add(rows);
      return;
    }
    const made = await database.createTable(slug, rows, { mode: "overwrite" });
    for (const column of COLUMNS) await made.createIndex(column, { config: lance.Index.fts(AS_THEY_ARE) });
    tables.set(slug, made);
  }

  async function remove(slug: string, ids: readonly string[]): Promise<void> {
    const table = tables.get(slug);
    for (let at = 0; table && at < ids.length; at += DROPPED_AT_ONCE) {
      const some = ids.slice(at, at + DROPPED_AT_ONCE).map((id) => `'${id.replaceAll("'", "''")}'`);
      await table.delete(`id IN (${some.join(", ")})`);
    }
  }

  async function search(
    table: Table,
    { question, most, vector }: { question: string; most: number; vector?: Vector },
  ): Promise<FoundPassage[]> {
    const words = wordsOf(question).join(" ");
    const deep = vector ? most * DEEP : most;
    const [byWords, byMeaning] = await Promise.all([
      words === ""
        ? []
        : table
            .search(new lance.MultiMatchQuery(words, COLUMNS, { boosts: BOOSTS }), "fts")
            .limit(deep)
            .toArray(),
      vector
        ? table
            .vectorSearch([...vector])
            .distanceType("cosine")
            .limit(deep)
            .toArray()
        : [],
    ]);
    const rows = new Map([...byWords, ...byMeaning].map((row) => [row.id, row]));
    const scored = byWords.map(({ id, _score = 0 }) => ({ id, score: _score }));
    const best = vector ? fused([scored, byMeaning.map(({ id }) => ({ id, score: 0 }))], most) : scored;
    return best.slice(0, most).flatMap(({ id, score }): FoundPassage[] => {
      const row = rows.get(id);
      if (!row) return [];
      const { title, heading, url, text } = row;
      return [{ title, heading, url, text, score }];
    });
  }

  async function answer(request: IndexRequest): Promise<FoundPassage[]> {
    const { slug } = request;
    const table = tables.get(slug);
    switch (request.type) {
      case "change": {
        await remove(slug, [...request.remove, ...request.add.map(({ id }) => id)]);
        await add(slug, request.add);
        // The end of a change: until then what is new is found without the index.
        if (request.add.length === 0) await table?.optimize();
        return [];
      }
      case "drop":
        tables.delete(slug);
        return [];
      case "search":
        return table ? search(table, request) : [];
    }
  }

  return {
    // In their order, as they come: a passage of the same id takes the place of the one before.
    ask(request) {
      const asking = last.then(() => answer(request));
      last = asking.catch(() => {});
      asking.catch(() => {
        // What it has is unknown: it is made anew.
        tables.clear();
        onEnd();
      });
      return asking;
    },

    onEnd(callback) {
      onEnd = callback;
    },

    async close() {
      await last;
      database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function rowOf({ id, title, heading, url, text, vector }: IndexedPassage): Row {
  const words = wordsOf(text).join(" ");
  const head = wordsOf(`${title} ${heading}`).join(" ");
  return { id, title, heading, url, text, words, head, ...(vector ? { vector: [...vector] } : {}) };
}
