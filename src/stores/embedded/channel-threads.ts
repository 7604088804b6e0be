import { UnreadableRecord } from "../../store.ts";
import type {
  ChannelThread,
  ChannelThreadStore,
  RestingThread,
  ThreadChange,
} from "../../store/channel-threads.ts";
import { pageOf } from "../../store/page.ts";
import type { ThreadEntry, ThreadPlace } from "../../store/users.ts";
import { isReadable } from "../checks.ts";
import { readThreadPlace, threadPlaceText } from "../thread-place.ts";
import type { EmbeddedDb } from "./db.ts";
import { fillOrders } from "./fill-orders.ts";
import { fillTokens } from "./fill-tokens.ts";
import { glanceAt } from "./thread-list.ts";
import { isFilled } from "./thread-orders.ts";
import type { ThreadRecords } from "./thread-records.ts";
import type { UserRecords } from "./user-records.ts";

/** A channel's threads by activity: an order that every commit updates, and each thread's owner (thread-orders.ts). */
export function embeddedChannelThreads(
  db: EmbeddedDb,
  { users, threads }: { users: UserRecords; threads: ThreadRecords },
): ChannelThreadStore {
  const { orders } = threads;

  /** The thread with its owner, if that user's names confirm it. */
  function owned(slug: string, uid: string): (ThreadEntry & { userId: string }) | null {
    const owner = orders.owner(slug, uid);
    const entry = owner && users.thread(slug, owner.userId, owner.name);
    if (owner && entry?.uid === uid) {
      return { uid, threadId: entry.name, createdAtMs: entry.createdAtMs, userId: owner.userId };
    }
    return searched(slug, uid);
  }

  /** For threads of an earlier version, until the orders are filled: the last run names the user. */
  function searched(slug: string, uid: string): (ThreadEntry & { userId: string }) | null {
    const run = threads.header(uid)?.slug === slug ? threads.run(uid) : null;
    const user = run && users.spender(slug, run.userId)?.user;
    const entry = user && users.threads(slug, user.userId).find((one) => one.uid === uid);
    return user && entry ? { ...entry, userId: user.userId } : null;
  }

  /** An unreadable thread is shown as one without messages, or not at all. */
  function shown(slug: string, uid: string): ChannelThread | null {
    try {
      const entry = owned(slug, uid);
      return entry && { ...entry, ...glanceAt(threads, entry) };
    } catch (error) {
      if (error instanceof UnreadableRecord) return null;
      throw error;
    }
  }

  function* changesOfPresent(slug: string, sinceMs: number): Iterable<ThreadPlace> {
    for (const change of orders.changes(slug, sinceMs)) if (!threads.isDeleted(change.uid)) yield change;
  }

  /** Null: the thread is unreadable. */
  function resting({ uid, atMs }: ThreadPlace): RestingThread | null {
    if (threads.isDeleted(uid)) return { uid, state: "idle", updatedAtMs: atMs, rev: null };
    if (!isReadable(() => threads.header(uid))) return null;
    const { state, updatedAtMs } = glanceAt(threads, { uid, threadId: "", createdAtMs: atMs });
    return { uid, state, updatedAtMs, rev: threads.header(uid)?.rev ?? 0 };
  }

  return {
    channelThreads: (slug, { limit, after, sinceMs, untilMs, state }) =>
      db.read("list a channel's threads", () => {
        const from = after === null ? { untilMs } : readThreadPlace(after);
        if (from === null) return { items: [], next: null };
        const isWithin = ({ atMs }: ThreadPlace) => atMs >= sinceMs;
        const ordered = state !== undefined && state !== "idle" && isFilled(db) ? state : undefined;
        const found = some(orders.byActivity(slug, from, ordered), limit + 1, isWithin);
        const places = found.map((place) => ({ ...place, place: threadPlaceText(place) }));
        const { items, next } = pageOf(places, limit);
        const read = items.flatMap(({ uid, place }) => {
          const thread = shown(slug, uid);
          return thread && (state ?? thread.state) === thread.state ? [{ ...thread, place }] : [];
        });
        return { items: read, next };
      }),

    channelThread: (slug, uid) => db.read(`look at thread ${uid}`, () => shown(slug, uid)),

    changedThreads: (slug, { sinceMs, limit }) =>
      db.read("look for changed threads", () => {
        const isSince = ({ atMs }: ThreadPlace) => atMs >= sinceMs;
        const spoken = some(orders.byActivity(slug, { untilMs: Infinity }), limit, isSince);
        const changed = some(changesOfPresent(slug, sinceMs), limit);
        return latestOf([...spoken, ...changed]).slice(0, limit);
      }),

    restingThreads: (slug, { untilMs, limit, after }) =>
      db.read("look for threads at rest", () => {
        const places = some(orders.oldest(slug, after), limit, ({ atMs }) => atMs <= untilMs);
        const items = places.flatMap((place): RestingThread[] => {
          const thread = resting(place);
          return thread && thread.updatedAtMs <= untilMs ? [thread] : [];
        });
        return { items, next: places.length < limit ? null : (places.at(-1) ?? null) };
      }),

    fillOrders: async () => (await fillOrders(db, { users, threads })) || fillTokens(db, users),
  };
}

/** The first items, up to the limit or to one that does not fit. */
function some<Item>(
  items: Iterable<Item>,
  limit: number,
  fits: (item: Item) => boolean = () => true,
): Item[] {
  const found: Item[] = [];
  for (const item of items) {
    if (found.length === limit || !fits(item)) break;
    found.push(item);
  }
  return found;
}

/** Each thread once, the latest first. */
function latestOf(changes: readonly ThreadChange[]): ThreadChange[] {
  const latest = new Map<string, number>();
  for (const { uid, atMs } of changes) latest.set(uid, Math.max(latest.get(uid) ?? 0, atMs));
  return [...latest].map(([uid, atMs]) => ({ uid, atMs })).sort((a, b) => b.atMs - a.atMs);
}
