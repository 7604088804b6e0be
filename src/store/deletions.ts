import type { SealedTelling } from "./outbox.ts";

/**
 * Deletion of a thread or a user: what is kept of it goes, and a tombstone stays (id, revision, time; no content), which
 * wins over every later writer: `commit`, `wait`, `keepImages` and `setCatalog` change nothing there and say so.
 *
 * The steps are on several key slots, so the first one plans the deletion: whoever comes later carries it out where the one
 * who began is gone. Each of the others may be repeated, also to erase what a late writer of an earlier version left.
 */
export interface DeletionStore {
  planDeletion(deletion: Deletion): Promise<void>;
  /** Oldest first. */
  plannedDeletions(limit: number): Promise<Deletion[]>;
  /** It is carried out. */
  endDeletion(deletion: Deletion): Promise<void>;
  /** Takes the thread off its user's names and the channel's lists. `tells`: to webhooks (outbox.ts), by the first such step alone. */
  unlistThread(deletion: Deletion, tells?: readonly SealedTelling[]): Promise<void>;
  /** Removes the user with its tokens, and all that leads to it; answers the uids of its threads, a repeat too. */
  unlistUser(deletion: Deletion, tells?: readonly SealedTelling[]): Promise<string[]>;
  /** Puts a tombstone in the thread's place. */
  eraseThread(uid: string, atMs: number): Promise<ErasedThread>;
  /** Only while that is its revision, or it is a tombstone; null: it is another one, and nothing was done. */
  eraseUnchanged(uid: string, atMs: number, rev: number): Promise<ErasedThread | null>;
  /**
   * Removes tokens of users who were removed that `unlistUser` did not know of: of earlier versions. Walks over all tokens of
   * the channel until it knows all (ChannelThreadStore.fillOrders), and does nothing from then on.
   */
  eraseTokens(slug: string, userIds: readonly string[]): Promise<void>;
  /** Up to which user retention has looked at the channel's; null: it begins anew. */
  sweepPlace(slug: string): Promise<string | null>;
  setSweepPlace(slug: string, place: string | null): Promise<void>;
}

export interface Deletion {
  kind: "thread" | "user";
  slug: string;
  /** The service's own id: a thread's uid, or a user's id. */
  id: string;
  /** One deletion has one time, whoever repeats its steps. */
  atMs: number;
}

export interface ErasedThread {
  /** By whom it was held; null: by nobody. A repeat may tell it again. */
  fence: string | null;
  /** Processes that watch it. */
  watchers: string[];
}
