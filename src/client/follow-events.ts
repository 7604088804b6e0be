import type { Abortable, EventsQuery, FeedLine, HistoryItem } from "./client.d.ts";
import { followFeed } from "./core/follow-feed.ts";
import type { Requests } from "./requests.ts";
import { queryOf } from "./query.ts";

/** A thread's feed, reconnected as often as needed; each connection begins after the last item that was delivered. */
export async function* followEvents(
  requests: Requests,
  thread: EventsQuery,
  { signal }: Abortable = {},
): AsyncGenerator<FeedLine> {
  const { threadId, ...query } = thread;
  const path = `threads/${encodeURIComponent(threadId)}`;
  const sent = signal ? { signal } : {};
  let { after } = thread;
  if (after === undefined) {
    // Read before the first connection: items that arrive while that one is lost would be missed otherwise.
    const last = await requests.insist(`${path}/messages?${queryOf({ ...query, limit: 1 })}`, sent);
    const { items } = (await last.json()) as { items: HistoryItem[] };
    after = items[0]?.id ?? "";
  }
  const { comeBack, reset } = requests.attempts(signal);
  const lines = followFeed({
    after,
    open: async (place) =>
      (await requests.ask(`${path}/events?${queryOf({ ...query, after: place ?? "" })}`, sent)).body,
    comeBack,
  });
  for await (const read of lines) {
    reset();
    // A cast: the service's lines are as the types say; the caller ignores those of an unknown type.
    const line = read as FeedLine | { type: "ping" };
    if (line.type === "ping") continue;
    yield line;
    if (line.type === "deleted") return;
  }
}
