import { useEffect, useMemo, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import type { Api, Query } from "../service/api.ts";
import { Problem, messageOf } from "../service/problem.ts";
import { NO_EVENTS } from "../service/thread-events.ts";
import type { ThreadEvents } from "../service/thread-events.ts";
import type { Page, ThreadState, ThreadView } from "../service/views.ts";
import { NO_THREADS, withChange, withListed } from "./inbox-state.ts";
import type { InboxThreads } from "./inbox-state.ts";

/** What is known of the conversations. */
interface Known {
  threads: InboxThreads;
  /** Nothing was read yet. */
  isLoading: boolean;
  trouble: string | null;
}

export interface LiveThreads extends Known {
  /** null: changes arrive live; otherwise the reason why not. */
  note: string | null;
}

interface Wanted {
  slugs: readonly string[];
  /** Those whose conversations are read however long ago their last activity was. */
  states: readonly ThreadState[];
}

/** The conversations of these channels: read once, then updated live, in whatever room the operator is. */
export function useLiveThreads(api: Api, events: ThreadEvents, { slugs, states }: Wanted): LiveThreads {
  const source = useMemo(
    () => sourceOf(api, events, { slugs, states }),
    [api, events, slugs.join(" "), states],
  );
  const [known, setKnown] = useState(source.now());
  const [note, setNote] = useState<string | null>(null);
  useEffect(() => {
    setKnown(source.now());
    return source.subscribe(setKnown);
  }, [source]);
  useEffect(() => events.onNote(setNote), [events]);
  return { ...known, note };
}

interface Source {
  now(): Known;
  /** Returns how to hear no more. */
  subscribe(listener: (known: Known) => void): () => void;
}

/** Who comes back to the inbox finds it as it is: ten thousand conversations are not read each time. */
const sources = new WeakMap<ThreadEvents, Map<string, Source>>();

function sourceOf(api: Api, events: ThreadEvents, wanted: Wanted): Source {
  // Nobody tells of changes: each time they are read anew.
  if (events === NO_EVENTS) return openSource(api, events, wanted);
  const all = sources.get(events) ?? new Map<string, Source>();
  sources.set(events, all);
  const key = JSON.stringify(wanted);
  const source = all.get(key) ?? openSource(api, events, wanted);
  all.set(key, source);
  return source;
}

function openSource(api: Api, events: ThreadEvents, { slugs, states }: Wanted): Source {
  const listeners = new Set<(known: Known) => void>();
  /** Those that changed since the reading began. */
  const changed = new Set<string>();
  let known: Known = { threads: NO_THREADS, isLoading: true, trouble: null };
  let readAtMs = -Infinity;
  let reading: Promise<void> | null = null;

  function tell(change: Partial<Known>): void {
    known = { ...known, ...change };
    for (const listener of listeners) listener(known);
  }

  /** One reading at a time: what was missed meanwhile is read after it. */
  function readAnew(): void {
    const next = (reading ?? Promise.resolve()).then(listAll);
    reading = next;
    void next.finally(() => {
      if (reading === next) reading = null;
    });
  }

  async function listAll(): Promise<void> {
    const seen = new Set<string>();
    changed.clear();
    try {
      await Promise.all(
        slugs.flatMap((slug) => {
          const take = (items: readonly ThreadView[]) => {
            for (const { id } of items) seen.add(id);
            const placed = items.map((item) => ({ ...item, channel: slug }));
            tell({ threads: withListed(known.threads, placed), isLoading: false });
          };
          const under = states.map((state) => list(api, slug, { query: { state }, most: MOST, take }));
          return [...under, list(api, slug, { query: {}, most: LISTED, take })];
        }),
      );
      // What is in no list any more was deleted, or has rested for long.
      const threads = new Map([...known.threads].filter(([id]) => seen.has(id) || changed.has(id)));
      readAtMs = performance.now();
      tell({ threads, isLoading: false, trouble: null });
    } catch (error) {
      tell({ isLoading: false, trouble: troubleOf(error) });
    }
  }

  events.listen({
    changed(thread) {
      if (!slugs.includes(thread.channel)) return;
      changed.add(thread.id);
      tell({ threads: withChange(known.threads, thread) });
    },
    missed: readAnew,
  });
  readAnew();
  return {
    now: () => known,
    subscribe(listener) {
      // Deletions are not told, and a failure may have passed.
      const isOld = performance.now() - readAtMs > READ_AGAIN_MS;
      if (reading === null && (isOld || known.trouble !== null)) readAnew();
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A conversation in one of these is not over. */
export const UNDER_WAY: readonly ThreadState[] = ["waiting_for_person", "with_person", "running", "awaiting"];
/** Who comes back after so long finds it as it is, and read anew. */
const READ_AGAIN_MS = 300_000;
/** Of one channel and one state: what nobody can look through is not read. */
const MOST = 10_000;
/** Of the latest. */
const LISTED = 100;
/** A list by state may have empty pages: of the latest at most this many are requested. */
const PAGES = 10;

/** Passes pages on as they come, so that a long list shows its beginning at once. */
async function list(
  api: Api,
  slug: string,
  { query, most, take }: { query: Query; most: number; take: (items: readonly ThreadView[]) => void },
): Promise<void> {
  let cursor: string | null = null;
  for (let [page, count] = [0, 0]; count < most && page < PAGES + most / LISTED; page += 1) {
    const path = pathOf("channels", slug, "threads");
    const answer: Page<ThreadView> = await api.list(path, { limit: LISTED, cursor, ...query });
    if (answer.items.length > 0) take(answer.items);
    count += answer.items.length;
    cursor = answer.next;
    if (cursor === null) return;
  }
}

function troubleOf(error: unknown): string {
  if (error instanceof Problem && error.status === 404)
    return "This version of the service does not list conversations yet. A user's or a conversation's id finds them.";
  return messageOf(error);
}
