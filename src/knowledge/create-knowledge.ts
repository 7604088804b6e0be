import type { Timers } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { PASSAGES_GIVEN } from "../domain/channels/knowledge.ts";
import type { KnowledgeField } from "../domain/channels/knowledge.ts";
import type { Knowledge, SourceState } from "../knowledge.ts";
import type { PlainLog } from "../log.ts";
import { StoreUnavailable } from "../store.ts";
import type { KnowledgeStore, KnownSources } from "../store.ts";
import type { IndexThread } from "./search/index-thread.ts";
import type { PassageSearch } from "./search/passage-search.ts";
import type { Vector } from "./search/vectors.ts";
import type { Syncs } from "./sync/syncs.ts";

/** How soon a channel's new source, or a wanted sync, is seen by the instance that reads it. */
const LOOK_MS = 5_000;
const FIRST_LOOK_MS = 500;

/** What a channel with documents needs. */
export interface OpenKnowledge {
  syncs: Syncs;
  thread: IndexThread;
  search: PassageSearch;
  /** What a question means, for channels with `embeddings`. Absent: questions are found by their words alone. */
  meaningOf?: (model: string, question: string) => Promise<Vector>;
}

export interface KnowledgeOptions {
  store: KnowledgeStore;
  /** The channels that have documents now. */
  channels: () => readonly { slug: string; knowledge: KnowledgeField }[];
  /** Does this instance read the sources of this channel? Instances agree, but for moments: then a lease decides. */
  reads: (slug: string) => boolean;
  /** Loaded where a channel has documents, and only there. */
  open: () => Promise<OpenKnowledge>;
  timers: Timers;
  log: Pick<PlainLog, "warn">;
}

/** The channel in a list of one, if it has documents. */
export function withKnowledge({
  slug,
  knowledge,
}: Pick<Channel, "slug" | "knowledge">): { slug: string; knowledge: KnowledgeField }[] {
  return knowledge ? [{ slug, knowledge }] : [];
}

export function createKnowledge(options: KnowledgeOptions): Knowledge {
  const { store, channels, reads, timers, log } = options;
  const stopping = new AbortController();
  const reading = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const faults = new Map<string, string[]>();
  /** Channels whose passages were indexed before anybody asked. */
  const indexed = new Set<string>();
  let opened: ReturnType<KnowledgeOptions["open"]> | null = null;
  let callOff = () => {};

  const open = () => (opened ??= options.open());
  const fieldOf = (slug: string) => channels().find((channel) => channel.slug === slug)?.knowledge ?? null;

  async function look(slug: string, knowledge: KnowledgeField): Promise<void> {
    const { syncs, search } = await open();
    if (!indexed.has(slug)) {
      indexed.add(slug);
      // So that the first question does not wait for it.
      await search.refresh(slug);
    }
    await syncs.sync(slug, knowledge, stopping.signal);
    const { sources } = await store.sources(slug);
    faults.set(
      slug,
      sources.flatMap(({ name, fault }) =>
        fault === null ? [] : [`source ${name} of the documents of channel ${slug} cannot be read: ${fault}`],
      ),
    );
  }

  /** `changed`: what is under way may not have seen it. */
  function lookAt(slug: string, knowledge: KnowledgeField, changed = false): void {
    if (stopping.signal.aborted) return;
    if (reading.has(slug)) {
      if (changed) again.add(slug);
      return;
    }
    const looking = look(slug, knowledge)
      .catch((error: unknown) => {
        // Whatever is due is still due when the store is back.
        if (!stopping.signal.aborted && !(error instanceof StoreUnavailable))
          log.warn({ channel: slug, err: error }, "documents cannot be read");
      })
      .finally(() => {
        reading.delete(slug);
        if (again.delete(slug)) lookAt(slug, fieldOf(slug) ?? knowledge);
      });
    reading.set(slug, looking);
  }

  function lookAtAll(): void {
    const all = channels();
    for (const { slug, knowledge } of all) if (reads(slug)) lookAt(slug, knowledge);
    void forget(new Set(all.map(({ slug }) => slug)));
    callOff = timers.after(LOOK_MS, lookAtAll);
  }

  /** Of channels that have no documents any more. */
  async function forget(present: ReadonlySet<string>): Promise<void> {
    for (const slug of indexed) {
      if (present.has(slug)) continue;
      indexed.delete(slug);
      faults.delete(slug);
      const { syncs, search } = await open();
      search.drop(slug);
      if (reads(slug))
        await syncs.sync(slug, { sources: [] }, stopping.signal).catch((error: unknown) => {
          log.warn({ channel: slug, err: error }, "documents cannot be removed");
        });
    }
  }

  /** A question whose meaning is not known now is found by its words. */
  const byWords = (slug: string) => (error: unknown) => {
    log.warn(
      { channel: slug, err: error },
      "the embeddings model does not answer: documents are found by words alone",
    );
    return null;
  };

  return {
    start() {
      callOff = timers.after(FIRST_LOOK_MS, lookAtAll);
    },

    async stop() {
      callOff();
      stopping.abort(new Error("The service stops"));
      await Promise.allSettled(reading.values());
      if (opened) await (await opened).thread.close();
    },

    async search(slug, question, most) {
      const knowledge = fieldOf(slug);
      if (knowledge === null) return [];
      const { embeddings, passages = PASSAGES_GIVEN } = knowledge;
      const { search, meaningOf } = await open();
      const vector =
        embeddings === undefined ? null : await meaningOf?.(embeddings, question).catch(byWords(slug));
      return search.search(slug, { question, most: most ?? passages, ...(vector ? { vector } : {}) });
    },

    async sources(slug) {
      const knowledge = fieldOf(slug);
      if (knowledge === null) return [];
      const known = await store.sources(slug);
      return knowledge.sources.map((source) => stateOf(source, known));
    },

    async sync(slug, names) {
      await store.wantSync(slug, names);
      this.changed(slug);
    },

    changed(slug) {
      const knowledge = fieldOf(slug);
      if (knowledge !== null && reads(slug)) lookAt(slug, knowledge, true);
    },

    warnings: () => [...faults.values()].flat(),
  };
}

function stateOf(source: SourceState["source"], { sources, wanted }: KnownSources): SourceState {
  const record = sources.find(({ name }) => name === source.name);
  if (!record) {
    const nothing = {
      pages: 0,
      passages: 0,
      readAtMs: null,
      dueAtMs: null,
      failed: 0,
      failures: [],
      fault: null,
    };
    return { source, state: "new", ...nothing };
  }
  const { pages, passages, readAtMs, dueAtMs, failed, failures, fault } = record;
  const isReading = wanted.has(source.name) || record.sync !== null;
  const state = isReading ? "reading" : fault === null ? "read" : "failed";
  return { source, state, pages, passages, readAtMs, dueAtMs, failed, failures, fault };
}
