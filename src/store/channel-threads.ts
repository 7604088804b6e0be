import type { Page } from "./page.ts";
import type { ThreadState } from "./threads.ts";
import type { ListedThread, ThreadPlace } from "./users.ts";

/** A channel's threads as operators see them: by activity, each with its user. */
export interface ChannelThreadStore {
  /**
   * The latest activity first (UserStore.listThreads); correct within 5 s. Threads without a user are left out, so a page
   * may be short.
   */
  channelThreads(slug: string, page: ChannelThreadPage): Promise<Page<PlacedThread>>;
  /** Null: the channel has no such thread, or no user has a name for it. */
  channelThread(slug: string, uid: string): Promise<ChannelThread | null>;
  /**
   * Threads that may have changed since then (a new history item, or another state), the newest `limit`. A thread may be
   * listed before its change can be read, or up to 3 s after.
   */
  changedThreads(slug: string, since: { sinceMs: number; limit: number }): Promise<ThreadChange[]>;
  /** Threads that were last active at `untilMs` or before, oldest first, without unreadable ones. */
  restingThreads(
    slug: string,
    page: { untilMs: number; limit: number; after: ThreadPlace | null },
  ): Promise<RestingThreadPage>;
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
  /** Where the last page ended; null: from the latest on. An unknown place gives an empty page. */
  after: string | null;
  /** Last active at this time or later. */
  sinceMs: number;
  /** Last active at this time or before; Infinity: no limit. */
  untilMs: number;
  /** Only threads in this state; absent: in any. This reads fewer threads, except for `idle`. */
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
  /** A run goes on in it, or a message waits. */
  isHeld: boolean;
  /** For `eraseUnchanged`; null: a tombstone that an interrupted deletion has left in the list. */
  rev: number | null;
}

export interface RestingThreadPage {
  items: RestingThread[];
  /** Where the next page begins; null: this is the end. */
  next: ThreadPlace | null;
}

/** How long changedThreads lists a change without a message. */
export const CHANGES_KEPT_MS = 86_400_000;
