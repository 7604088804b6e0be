import { useEffect, useReducer, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import type { Api, Query } from "../service/api.ts";
import { Problem, messageOf } from "../service/problem.ts";
import type { ThreadEvents } from "../service/thread-events.ts";
import type { Page, PlacedThread, ThreadState, ThreadView } from "../service/views.ts";
import { NO_THREADS, withChange, withListed } from "./inbox-state.ts";
import type { InboxThreads } from "./inbox-state.ts";

type Told =
  | { type: "listed"; threads: readonly PlacedThread[] }
  | { type: "changed"; thread: PlacedThread }
  | { type: "forget" };

export interface LiveThreads {
  threads: InboxThreads;
  isLoading: boolean;
  /** null: changes arrive live; otherwise the reason why not. */
  note: string | null;
  trouble: string | null;
}

/**
 * The conversations of these channels: read once, then updated live. `states`: those whose conversations are read however
 * long ago their last activity was.
 */
export function useLiveThreads(
  api: Api,
  events: ThreadEvents,
  { slugs, states }: { slugs: readonly string[]; states: readonly ThreadState[] },
): LiveThreads {
  const [threads, tell] = useReducer(reduce, NO_THREADS);
  const [isLoading, setLoading] = useState(true);
  const [note, setNote] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);

  useEffect(() => {
    const listing = new AbortController();
    const { signal } = listing;
    tell({ type: "forget" });
    setLoading(true);
    setTrouble(null);
    const list = async () => {
      try {
        const lists = await Promise.all(slugs.map((slug) => listed(api, slug, { states, signal })));
        if (!signal.aborted) tell({ type: "listed", threads: lists.flat() });
      } catch (error) {
        if (!signal.aborted) setTrouble(troubleOf(error));
      }
      if (!signal.aborted) setLoading(false);
    };
    const stop = events.listen({
      changed(thread) {
        if (slugs.includes(thread.channel)) tell({ type: "changed", thread });
      },
      missed: () => void list(),
    });
    void list();
    return () => {
      stop();
      listing.abort();
    };
  }, [api, events, slugs.join(" ")]);
  useEffect(() => events.onNote(setNote), [events]);

  return { threads, isLoading, note, trouble };
}

function reduce(threads: InboxThreads, told: Told): InboxThreads {
  switch (told.type) {
    case "listed":
      return withListed(threads, told.threads);
    case "changed":
      return withChange(threads, told.thread);
    case "forget":
      return NO_THREADS;
  }
}

/** Those in these states, which may be far down in the order of activity, and the latest of all. */
async function listed(
  api: Api,
  slug: string,
  { states, signal }: { states: readonly ThreadState[]; signal: AbortSignal },
): Promise<PlacedThread[]> {
  const lists = await Promise.all(
    [...states.map((state) => ({ state })), {}].map((query) => firstOf(api, slug, query, signal)),
  );
  return lists.flat().map((item) => ({ ...item, channel: slug }));
}

/** A conversation in one of these is not over. */
export const UNDER_WAY: readonly ThreadState[] = ["waiting_for_person", "with_person", "running", "awaiting"];
const LISTED = 100;
/** A list by state may have empty pages: at most this many are requested. */
const PAGES = 10;

async function firstOf(api: Api, slug: string, query: Query, signal: AbortSignal): Promise<ThreadView[]> {
  const items: ThreadView[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES && items.length < LISTED; page += 1) {
    const answer: Page<ThreadView> = await api.list(
      pathOf("channels", slug, "threads"),
      { limit: LISTED, cursor, ...query },
      signal,
    );
    items.push(...answer.items);
    cursor = answer.next;
    if (cursor === null) break;
  }
  return items;
}

function troubleOf(error: unknown): string {
  if (error instanceof Problem && error.status === 404)
    return "This version of the service does not list conversations yet. A user's or a conversation's id finds them.";
  return messageOf(error);
}
