import type { Abortable, EventsQuery, FeedLine, HistoryItem } from "./client.d.ts";
import { readLines } from "./read-lines.ts";
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
  for (let failures = 0; ;) {
    let fault: unknown = new Error("The feed ended");
    try {
      const response = await requests.ask(`${path}/events?${queryOf({ ...query, after })}`, sent);
      for await (const line of readLines<FeedLine | { type: "ping" }>(response)) {
        failures = 0;
        if (line.type === "message") after = line.item.id;
        if (line.type === "ping") continue;
        yield line;
        if (line.type === "deleted") return;
      }
    } catch (error) {
      fault = error;
    }
    await requests.recover(fault, ++failures, signal);
  }
}
