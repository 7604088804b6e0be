import { useEffect, useReducer, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import type { Api } from "../service/api.ts";
import { keepOpen } from "../service/live.ts";
import { Problem, messageOf } from "../service/problem.ts";
import type { PlacedThread, ThreadView } from "../service/views.ts";
import { NO_THREADS, allSeen, withChange, withListed } from "./inbox-state.ts";
import type { InboxState } from "./inbox-state.ts";

/** A line of /events: a thread as it is now, or a sign of life. */
type EventLine =
  | (Partial<PlacedThread> & { type: "thread"; cursor: string; channel: string; id: string })
  | { type: "ping" };

type Told =
  | { type: "listed"; threads: readonly PlacedThread[] }
  | { type: "changed"; thread: PlacedThread }
  | { type: "seen" }
  | { type: "forget" };

export interface LiveThreads {
  state: InboxState;
  isLoading: boolean;
  /** null: changes come as they happen; else why not. */
  note: string | null;
  trouble: string | null;
  seen: () => void;
}

/** What goes on in these channels: read once, and then told as it changes. */
export function useLiveThreads(
  api: Api,
  slugs: readonly string[],
  { hasFeed }: { hasFeed: boolean },
): LiveThreads {
  const [state, tell] = useReducer(reduce, NO_THREADS);
  const [isLoading, setLoading] = useState(true);
  const [note, setNote] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);

  useEffect(() => {
    const watching = new AbortController();
    const { signal } = watching;
    tell({ type: "forget" });
    setLoading(true);
    setTrouble(null);
    const list = async () => {
      try {
        const lists = await Promise.all(slugs.map((slug) => listed(api, slug, signal)));
        if (!signal.aborted) tell({ type: "listed", threads: lists.flat() });
      } catch (error) {
        if (!signal.aborted) setTrouble(troubleOf(error));
      }
      if (!signal.aborted) setLoading(false);
    };
    let cursor: string | null = null;
    const follow = () =>
      keepOpen<EventLine>(api, {
        path: "/events",
        query: () => ({ after: cursor }),
        signal,
        onConnected: (is) => setNote(is ? null : "The connection is gone; trying again."),
        onLine(line) {
          if (line.type !== "thread") return;
          cursor = line.cursor;
          if (!slugs.includes(line.channel)) return;
          const thread = threadOf(line);
          if (thread === null) return;
          tell({ type: "changed", thread });
        },
      }).catch((error: unknown) => {
        if (!signal.aborted) setNote(noteOf(error));
      });
    void list();
    if (hasFeed) void follow();
    else setNote("Your role does not follow changes: reload to see them.");
    return () => watching.abort();
  }, [api, slugs.join(" "), hasFeed]);

  return { state, isLoading, note, trouble, seen: () => tell({ type: "seen" }) };
}

function reduce(state: InboxState, told: Told): InboxState {
  switch (told.type) {
    case "listed":
      return withListed(state, told.threads);
    case "changed":
      return withChange(state, told.thread);
    case "seen":
      return allSeen(state);
    case "forget":
      return NO_THREADS;
  }
}

/** What is under way, which may be far behind in the order of activity, and the latest of all. */
async function listed(api: Api, slug: string, signal: AbortSignal): Promise<PlacedThread[]> {
  const path = pathOf("channels", slug, "threads");
  const pages = await Promise.all(
    [{ state: "running" }, { state: "awaiting" }, {}].map((query) =>
      api.list<ThreadView>(path, { limit: 100, ...query }, signal),
    ),
  );
  return pages.flatMap(({ items }) => items.map((item) => ({ ...item, channel: slug })));
}

function threadOf(line: Extract<EventLine, { type: "thread" }>): PlacedThread | null {
  const { channel, id, state } = line;
  if (state === undefined) return null;
  const { threadId = id, userId = "", updatedAt = Date.now(), createdAt = updatedAt, messages } = line;
  return {
    channel,
    id,
    threadId,
    userId,
    state,
    createdAt,
    updatedAt,
    ...(messages === undefined ? {} : { messages }),
  };
}

function noteOf(error: unknown): string {
  const isMissing = error instanceof Problem && error.status === 404;
  return `Changes do not come by themselves${isMissing ? "" : `: ${messageOf(error)}`}`;
}

function troubleOf(error: unknown): string {
  if (error instanceof Problem && error.status === 404)
    return "This version of the service does not list conversations yet. A user's or a conversation's id finds them.";
  return messageOf(error);
}
