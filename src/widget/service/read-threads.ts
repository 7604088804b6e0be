import type { ThreadPage } from "../../protocol/threads.ts";
import type { WidgetApi } from "./widget-api.ts";

/** A conversation of the visitor. */
export interface ListedThread {
  threadId: string;
  /** Time of the last message; if empty, when the thread was created. */
  updatedAtMs: number;
}

/** The visitor's conversations, the latest first; `next` is the cursor of the next page. */
export async function readThreads(
  api: WidgetApi,
  visitorToken: string,
  { limit, cursor = null }: { limit: number; cursor?: string | null },
): Promise<{ items: ListedThread[]; next: string | null }> {
  const query = `limit=${limit}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
  const response = await api({ path: `/threads?${query}`, method: "GET", visitorToken });
  // A cast: the service answers so.
  const { items = [], next = null } = (await response.json()) as Partial<ThreadPage>;
  return {
    items: items.map(({ threadId, updatedAt: updatedAtMs }) => ({ threadId, updatedAtMs })),
    next,
  };
}
