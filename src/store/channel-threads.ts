import type { Page } from "./page.ts";
import type { ThreadState } from "./threads.ts";
import type { ListedThread, ThreadPlace } from "./users.ts";

/** A channel's threads as operators see them: by activity, and whose each is. */
export interface ChannelThreadStore {
  /** The latest activity first (UserStore.listThreads), right within 5 s. A thread of nobody is left out: a page may be short. */
  channelThreads(slug: string, page: ChannelThreadPage): Promise<Page<PlacedThread>>;
  /** Null: the channel has no such thread, or nobody has a name for it. */
  channelThread(slug: string, uid: string): Promise<ChannelThread | null>;
  /**
   * Threads that may look otherwise since then, the newest `limit`: something entered their history, or their state changed.
   * One may be among them before its change can be read, and for 3 s after it not yet.
   */
  changedThreads(slug: string, since: { sinceMs: number; limit: number }): Promise<ThreadChange[]>;
  /** Threads that were last active at `untilMs` or before, the oldest first; none that cannot be read. */
  restingThreads(
    slug: string,
    page: { untilMs: number; limit: number; after: ThreadPlace | null },
  ): Promise<RestingThreadPage>;
  /**
   * Puts a part of what earlier versions wrote into the orders that they did not keep. True: there is more. Done by one
   * process at a time; after a fault the next call goes on.
   */
  fillOrders(): Promise<boolean>;
}

export interface ChannelThread extends ListedThread {
  userId: string;
}

export interface PlacedThread extends ChannelThread {
  /** `AT_MS-UID` */
  place: string;
}

export interface ChannelThreadPage {
  limit: number;
  /** Where the last page ended; null: from the latest on. A place that is none gives an empty page. */
  after: string | null;
  /** Active at this time or later. */
  sinceMs: number;
  /** Active at this time or before; Infinity: whenever. */
  untilMs: number;
  /** Only threads in this state; none: in any. Fewer are looked at then, but for those that are idle. */
  state?: ThreadState;
}

export interface ThreadChange {
  uid: string;
  atMs: number;
}

export interface RestingThread {
  uid: string;
  updatedAtMs: number;
  state: ThreadState;
  /** As `eraseThread` takes it; null: it is a tombstone, which a deletion that was stopped has left on the list. */
  rev: number | null;
}

export interface RestingThreadPage {
  items: RestingThread[];
  /** Where the next page begins; null: this is the end. */
  next: ThreadPlace | null;
}

/** How long a change without a message is told of (changedThreads). */
export const CHANGES_KEPT_MS = 86_400_000;
