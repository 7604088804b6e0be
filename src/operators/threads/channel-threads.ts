import { answererView, approvalView, assignmentView, readThread } from "./answerer.ts";
import type { Headline } from "./headline.ts";
import { threadState } from "../../protocol/threads.ts";
import type { ChannelThread, ChannelThreadStore, Page, PlacedThread, UserStore } from "../../store.ts";

/** The filters of a channel's list. */
export interface ThreadFilter {
  state: string | null;
  /** Only those that are in this queue; null: any. */
  queue?: string | null;
  /** Our id. */
  userId: string | null;
  /** Active at this time or later. */
  sinceMs: number;
  /** Active at this time or before; Infinity: no limit. */
  untilMs: number;
}

/** In the contract's order. The last two are states of a thread that a person answers. */
export const THREAD_STATES = threadState.options;

/** Threads that one request reads: on either store that takes some tens of milliseconds. */
const LOOKED_AT = 1_000;
const LOOKED_AT_ONCE = 200;

type Reading = Pick<ChannelThreadStore, "channelThreads"> & Pick<UserStore, "listThreads">;

/**
 * A page of a channel's threads, the latest activity first. Filtered by state, it may have fewer than `limit` threads,
 * even none, and still have a next page: a search among a million threads continues with each requested page.
 */
export async function listChannelThreads(
  store: Reading,
  slug: string,
  { limit, after: from }: { limit: number; after: string | null },
  filter: ThreadFilter,
): Promise<Page<PlacedThread>> {
  const found: PlacedThread[] = [];
  let after = from;
  // Mostly the first ones match: few threads are busy, and those in a state are listed by it.
  let atOnce = limit;
  for (let lookedAt = 0; lookedAt < LOOKED_AT && found.length < limit; lookedAt += atOnce) {
    if (lookedAt > 0) atOnce = LOOKED_AT_ONCE;
    const page = await somePage(store, slug, { limit: atOnce, after }, filter);
    for (const thread of page.items) {
      if (found.length === limit) return { items: found, next: after };
      after = thread.place;
      if (fits(thread, filter)) found.push(thread);
    }
    after = page.next;
    if (after === null) break;
  }
  return { items: found, next: after };
}

async function somePage(
  store: Reading,
  slug: string,
  { limit, after }: { limit: number; after: string | null },
  { state, userId, sinceMs, untilMs }: ThreadFilter,
): Promise<Page<PlacedThread>> {
  if (userId === null) {
    const known = THREAD_STATES.find((one) => one === state);
    return store.channelThreads(slug, { limit, after, sinceMs, untilMs, ...(known ? { state: known } : {}) });
  }
  const { items, next } = await store.listThreads({ slug, userId, limit, after: placeFrom(after) });
  const threads = items.map((thread) => ({ ...thread, userId, place: placeText(thread) }));
  const isPast = threads.some(({ updatedAtMs }) => updatedAtMs < sinceMs);
  return { items: threads, next: next === null || isPast ? null : `${next.atMs}-${next.uid}` };
}

function placeText({ updatedAtMs, uid }: ChannelThread | { updatedAtMs: number; uid: string }): string {
  return `${updatedAtMs}-${uid}`;
}

/** An invalid place counts as before everything: an empty page follows it. */
function placeFrom(text: string | null): { atMs: number; uid: string } | null {
  if (text === null) return null;
  const dash = text.indexOf("-");
  const atMs = Number(text.slice(0, dash));
  return { atMs: Number.isNaN(atMs) ? -1 : atMs, uid: text.slice(dash + 1) };
}

function fits({ state, updatedAtMs, snapshot }: ChannelThread, filter: ThreadFilter): boolean {
  if (filter.queue != null && assignmentView(readThread(snapshot)).queue !== filter.queue) return false;
  if (filter.state !== null && filter.state !== state) return false;
  return updatedAtMs >= filter.sinceMs && updatedAtMs <= filter.untilMs;
}

/** A thread as operators see it in a list, without texts. `epoch` counts the changes of who answers. */
export function channelThreadView(thread: ChannelThread, read = readThread(thread.snapshot)) {
  const { uid, threadId, userId, state, createdAtMs, updatedAtMs } = thread;
  return {
    id: uid,
    threadId,
    userId,
    state,
    createdAt: createdAtMs,
    updatedAt: updatedAtMs,
    ...answererView(read),
    ...approvalView(read),
  };
}

/** The same for who may read its texts. */
export function readersThreadView(thread: ChannelThread, headline: Headline) {
  const read = readThread(thread.snapshot);
  return { ...channelThreadView(thread, read), ...headline, ...assignmentView(read) };
}

/** Threads per read when all are wanted. */
const AT_ONCE = 200;

/** All that match, page by page; no page is empty. */
export async function* pagesOfChannelThreads(
  store: Reading,
  slug: string,
  filter: ThreadFilter,
): AsyncIterable<PlacedThread[]> {
  for (let after: string | null = null; ;) {
    const page: Page<PlacedThread> = await listChannelThreads(store, slug, { limit: AT_ONCE, after }, filter);
    if (page.items.length > 0) yield page.items;
    if (page.next === null) return;
    after = page.next;
  }
}
