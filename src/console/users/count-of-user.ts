import { pathOf } from "../service/api.ts";
import type { Api } from "../service/api.ts";
import type { ThreadView } from "../service/views.ts";
import type { WhatGoes } from "./what-goes.ts";

/** A page of the list is counted. */
const COUNTED = 100;
/** Of so many conversations each is asked how many messages it holds. */
const ASKED = 12;

export async function countOf(
  api: Api,
  slug: string,
  userId: string,
  signal: AbortSignal,
): Promise<WhatGoes> {
  const path = pathOf("channels", slug, "threads");
  const { items, next } = await api.list<ThreadView>(path, { userId, limit: COUNTED }, signal);
  const hasMore = next !== null;
  if (hasMore || items.length > ASKED) return { threads: items.length, hasMore, messages: null };
  const threads = await Promise.all(
    items.map(({ id }) => api.get<ThreadView>(path + pathOf(id), {}, signal)),
  );
  const messages = threads.reduce((sum, thread) => sum + (thread.messages ?? 0), 0);
  return { threads: items.length, hasMore, messages };
}
