import type { Clock, Timers } from "../clock.ts";
import type { Model } from "../model.ts";
import type { PlainLog } from "../log.ts";
import type { KnowledgeStore } from "../store.ts";
import type { OpenKnowledge } from "./create-knowledge.ts";
import { createPageFetch } from "./fetch/page-fetch.ts";
import { meaningOf, withMeaning } from "./meaning.ts";
import type { Passage } from "./passages.ts";
import { createReader } from "./read/reader.ts";
import { createIndexThread } from "./search/index-thread.ts";
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
  return {
    thread,
    search: createPassageSearch({ store, thread }),
    syncs: createSyncs({
      ...options,
      store,
      openFetch: () => createPageFetch({ allowsPrivate }),
      openReader: () => createReader(),
      ...(embed
        ? { embed: (model: string) => (passages: readonly Passage[]) => withMeaning(embed, model, passages) }
        : {}),
    }),
    ...(embed ? { meaningOf: (model: string, question: string) => meaningOf(embed, model, question) } : {}),
  };
}
