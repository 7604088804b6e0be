import type { Clock, Timers } from "../clock.ts";
import type { Model } from "../model.ts";
import type { PlainLog } from "../log.ts";
import type { KnowledgeStore } from "../store.ts";
import type { OpenKnowledge } from "./create-knowledge.ts";
import { createPageFetch } from "./fetch/page-fetch.ts";
import { meaningOf, withMeaning } from "./meaning.ts";
import { createReader } from "./read/reader.ts";
import type { IndexThread } from "./search/index-thread.ts";
import { createIndexThread } from "./search/index-thread.ts";
import type { PassageSearch } from "./search/passage-search.ts";
import { createPassageSearch } from "./search/passage-search.ts";
import { createSyncs } from "./sync/syncs.ts";

/** Everything that a channel with documents needs; this file is loaded where there is one. */
export async function openKnowledge({
  store,
  allowsPrivate,
  embed,
  ...options
}: {
  store: KnowledgeStore;
  clock: Pick<Clock, "now">;
  timers: Timers;
  log: PlainLog;
  /** Sites may have private addresses. */
  allowsPrivate: boolean;
  /** Absent: there are no embeddings models. */
  embed?: NonNullable<Model["embed"]> | undefined;
}): Promise<OpenKnowledge> {
  const thread = createIndexThread();
  const inMemory = createPassageSearch({ store, thread });
  let onDisk: Promise<IndexThread> | null = null;
  let searchOnDisk: PassageSearch | null = null;

  async function openOnDisk(): Promise<PassageSearch> {
    const { createLanceIndex } = await import("./search/lance-index.ts");
    onDisk ??= createLanceIndex();
    // A package that is installed meanwhile is found the next time.
    onDisk.catch(() => (onDisk = null));
    return (searchOnDisk ??= createPassageSearch({ store, thread: await onDisk }));
  }

  return {
    searchIn: async (index) => (index === "lancedb" ? openOnDisk() : inMemory),

    async close() {
      await Promise.all([thread.close(), onDisk?.then((index) => index.close())]);
    },

    syncs: createSyncs({
      ...options,
      store,
      openFetch: () => createPageFetch({ allowsPrivate }),
      openReader: () => createReader(),
      ...(embed
        ? { embed: (model: string) => (passages, signal) => withMeaning(embed, model, { passages, signal }) }
        : {}),
    }),
    ...(embed ? { meaningOf: (model: string, question: string) => meaningOf(embed, model, question) } : {}),
  };
}
