import { newId } from "../../domain/ids.ts";
import type {
  KnowledgeStore,
  PageDocument,
  PageRecord,
  SourceRecord,
  UnreadableRecord,
} from "../../store.ts";
import { slotOf } from "../engine.ts";
import type { Check, Pair, Write } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { documentKind, pageKind, sourceKind } from "../records/knowledge-records.ts";
import { readReadable } from "../records/read-readable.ts";
import { tables } from "../tables.ts";
import type { StepsContext } from "./context.ts";

/** The fields of a channel's documents. */
export const KNOWLEDGE = {
  rev: "rev",
  source: (name: string) => `s ${name}`,
  wanted: (name: string) => `w ${name}`,
} as const;

const SOURCE = KNOWLEDGE.source("");
const WANTED = KNOWLEDGE.wanted("");
/** Documents that are read at once: some 10 KB each. */
const DOCUMENTS_AT_ONCE = 50;

/**
 * The documents of channels. Whatever writes pages holds the lease of the channel; all keys are in the channel's slot. A record
 * that cannot be read counts as absent, and is read anew from its source.
 */
export function knowledgeSteps(
  { engine, processId }: Pick<StepsContext, "engine" | "processId">,
  onUnreadable: (error: UnreadableRecord) => void,
): KnowledgeStore {
  const isEmbedded = engine.kind === "embedded";

  /** False: another process has the lease. */
  async function apply(
    name: string,
    slug: string,
    { is, writes }: { is: readonly (string | null)[]; writes: readonly Write[] },
  ): Promise<boolean> {
    const key = tables.knowledgeLease.key(slug);
    const checks: Check[] = [{ check: "field", key, field: "process", is }];
    const { type } = await engine.apply({ name, slot: slotOf(key), checks, writes });
    return type !== "failed";
  }

  const leased = (name: string, slug: string, writes: readonly Write[]) =>
    apply(name, slug, { is: [processId], writes });

  /** One after the other: each step may empty one key. */
  async function eachLeased(
    name: string,
    slug: string,
    steps: readonly (readonly Write[])[],
  ): Promise<boolean> {
    for (const writes of steps) if (!(await leased(name, slug, writes))) return false;
    return true;
  }

  return {
    async sources(slug) {
      const [pairs] = await engine.read([{ read: "hash", key: tables.knowledge.key(slug) }], {
        durable: false,
        name: "sources",
      });
      const rev = pairs.find(([field]) => field === KNOWLEDGE.rev)?.[1] ?? null;
      return {
        rev,
        sources: pairs
          .filter(([field]) => field.startsWith(SOURCE))
          .flatMap(([field, text]) => readReadable(() => sourceFrom(field, text), onUnreadable)),
        wanted: new Map(
          pairs.flatMap(([field, text]): Pair[] =>
            field.startsWith(WANTED) ? [[field.slice(WANTED.length), text]] : [],
          ),
        ),
      };
    },

    async leaseKnowledge(slug, forMs) {
      const key = tables.knowledgeLease.key(slug);
      // Only one process serves an embedded store: any other holder is a dead one.
      const [[holder = null]] = isEmbedded
        ? await engine.read([{ read: "fields", key, fields: ["process"] }])
        : [[]];
      return apply("leaseKnowledge", slug, {
        is: [null, processId, holder],
        writes: [
          { write: "set", key, fields: [["process", processId]] },
          { write: "expire", key, inMs: forMs },
        ],
      });
    },

    async releaseKnowledge(slug) {
      await leased("releaseKnowledge", slug, [{ write: "drop", key: tables.knowledgeLease.key(slug) }]);
    },

    keepSource: (slug, source, change) =>
      leased("keepSource", slug, [
        {
          write: "set",
          key: tables.knowledge.key(slug),
          fields: [sourceField(source), ...(change ? [[KNOWLEDGE.rev, change.rev] as const] : [])],
        },
      ]),

    keepPage: (slug, source, page, document) =>
      leased("keepPage", slug, pageWrites(slug, source, page, document)),

    // Their texts first: of a page that is listed they are dropped again.
    dropPages: (slug, source, urls) =>
      eachLeased("dropPages", slug, [
        [{ write: "remove", key: tables.knownDocuments.key(slug, source), fields: urls }],
        [{ write: "remove", key: tables.knownPages.key(slug, source), fields: urls }],
      ]),

    dropSource(slug, source, { rev }) {
      const key = tables.knowledge.key(slug);
      const own = [KNOWLEDGE.source(source), KNOWLEDGE.wanted(source)];
      return eachLeased("dropSource", slug, [
        [{ write: "drop", key: tables.knownDocuments.key(slug, source) }],
        [{ write: "drop", key: tables.knownPages.key(slug, source) }],
        [
          { write: "set", key, fields: [[KNOWLEDGE.rev, rev]] },
          { write: "remove", key, fields: own },
        ],
      ]);
    },

    async wantSync(slug, sources) {
      const key = tables.knowledge.key(slug);
      const wanted = newId();
      const fields = sources.map((name): Pair => [KNOWLEDGE.wanted(name), wanted]);
      await engine.apply({
        name: "wantSync",
        slot: slotOf(key),
        checks: [],
        writes: fields.length === 0 ? [] : [{ write: "set", key, fields }],
      });
    },

    async beginWanted(slug, source, wanted) {
      const key = tables.knowledge.key(slug);
      const field = KNOWLEDGE.wanted(source);
      await engine.apply({
        name: "beginWanted",
        slot: slotOf(key),
        checks: [{ check: "field", key, field, is: [wanted] }],
        writes: [{ write: "remove", key, fields: [field] }],
      });
    },

    async *pages(slug, source) {
      for await (const pairs of engine.hashPages(tables.knownPages.key(slug, source))) {
        yield pairs.flatMap(([url, text]) => readReadable(() => pageFrom(url, text), onUnreadable));
      }
    },

    async documents(slug, source, urls) {
      const key = tables.knownDocuments.key(slug, source);
      const found: { url: string; document: PageDocument }[] = [];
      for (let at = 0; at < urls.length; at += DOCUMENTS_AT_ONCE) {
        const some = urls.slice(at, at + DOCUMENTS_AT_ONCE);
        const [texts] = await engine.read([{ read: "fields", key, fields: some }], {
          durable: false,
          name: "documents",
        });
        some.forEach((url, nth) => {
          const text = texts[nth] ?? null;
          if (text === null) return;
          found.push(...readReadable(() => ({ url, document: documentFrom(url, text) }), onUnreadable));
        });
      }
      return found;
    },
  };
}

/** A source as it is stored. */
export function sourceField(source: SourceRecord): Pair {
  return [KNOWLEDGE.source(source.name), JSON.stringify(sourceKind.stored(source))];
}

export function sourceFrom(field: string, text: string): SourceRecord {
  return sourceKind.read(jsonValue(text), field);
}

/** A page as it is stored. Its text first: a page that is listed has one. */
export function pageWrites(slug: string, source: string, page: PageRecord, document?: PageDocument): Write[] {
  const { url } = page;
  const text = document && JSON.stringify(documentKind.stored(document));
  return [
    ...(text === undefined
      ? []
      : [
          {
            write: "set" as const,
            key: tables.knownDocuments.key(slug, source),
            fields: [[url, text] as const],
          },
        ]),
    {
      write: "set",
      key: tables.knownPages.key(slug, source),
      fields: [[url, JSON.stringify(pageKind.stored(page))]],
    },
  ];
}

export function pageFrom(url: string, text: string): PageRecord {
  return pageKind.read(jsonValue(text), url);
}

export function documentFrom(url: string, text: string): PageDocument {
  return documentKind.read(jsonValue(text), url);
}
