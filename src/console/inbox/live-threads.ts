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
    const listAll = async () => {
      try {
        await Promise.all(
          slugs.flatMap((slug) => {
            const take = (items: readonly ThreadView[]) => {
              const threads = items.map((item) => ({ ...item, channel: slug }));
              if (!signal.aborted) tell({ type: "listed", threads });
            };
            const under = states.map((state) =>
              list(api, slug, { query: { state }, most: MOST, signal, take }),
            );
            return [...under, list(api, slug, { query: {}, most: LISTED, signal, take })];
          }),
        );
      } catch (error) {
        if (!signal.aborted) setTrouble(troubleOf(error));
      }
      if (!signal.aborted) setLoading(false);
    };
    const stop = events.listen({
      changed(thread) {
        if (slugs.includes(thread.channel)) tell({ type: "changed", thread });
      },
      missed: () => void listAll(),
    });
    void listAll();
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

/** A conversation in one of these is not over. */
export const UNDER_WAY: readonly ThreadState[] = ["waiting_for_person", "with_person", "running", "awaiting"];
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
  {
    query,
    most,
    signal,
    take,
  }: { query: Query; most: number; signal: AbortSignal; take: (items: readonly ThreadView[]) => void },
): Promise<void> {
  let cursor: string | null = null;
  for (let [page, count] = [0, 0]; count < most && page < PAGES + most / LISTED; page += 1) {
    const answer: Page<ThreadView> = await api.list(
      pathOf("channels", slug, "threads"),
      { limit: LISTED, cursor, ...query },
      signal,
    );
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
