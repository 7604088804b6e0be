import { readReadable } from "../records/read-readable.ts";
import { documentFrom, KNOWLEDGE, pageFrom, sourceFrom } from "../steps/knowledge.ts";
import { tables } from "../tables.ts";
import type { Reader } from "../walk.ts";
import { chunks } from "./pages.ts";
import type { BackupPage, BackupRecord } from "./records.ts";

const PAGES_AT_ONCE = 50;
const ignore = () => {};

/** A channel's documents, each source behind its pages. What cannot be read is left out: it is read anew from its source. */
export async function* documentsOf(reader: Reader, slug: string): AsyncIterable<BackupRecord> {
  const [fields] = await reader.read([{ read: "hash", key: tables.knowledge.key(slug) }]);
  const sources = fields
    .filter(([field]) => field.startsWith(KNOWLEDGE.source("")))
    .flatMap(([field, text]) => readReadable(() => sourceFrom(field, text), ignore));
  for (const source of sources) {
    for await (const pairs of reader.hashPages(tables.knownPages.key(slug, source.name))) {
      for (const some of chunks(pairs, PAGES_AT_ONCE)) yield* await pagesOf(reader, slug, source.name, some);
    }
    yield { type: "source", slug, source };
  }
}

async function pagesOf(
  reader: Reader,
  slug: string,
  source: string,
  pairs: readonly (readonly [url: string, text: string])[],
): Promise<BackupPage[]> {
  const key = tables.knownDocuments.key(slug, source);
  const [texts] = await reader.read([{ read: "fields", key, fields: pairs.map(([url]) => url) }]);
  return pairs.flatMap(([url, text], nth) => {
    const document = texts[nth] ?? null;
    if (document === null) return [];
    return readReadable(
      (): BackupPage => ({
        type: "page",
        slug,
        source,
        page: pageFrom(url, text),
        document: documentFrom(url, document),
      }),
      ignore,
    );
  });
}
