import type { SealedTelling } from "./outbox.ts";

/**
 * Deletion of a thread or a user: the data goes, and a tombstone stays (id, revision, time; no content). The tombstone wins
 * over every later write: `commit`, `wait`, `keepImages` and `setCatalog` change nothing and report it.
 *
 * The steps are on several key slots, so the first one plans the deletion: if the process that began it dies, another one
 * carries it out. All other steps may be repeated, also to erase what was written late.
 */
export interface DeletionStore {
  planDeletion(deletion: Deletion): Promise<void>;
  /** Oldest first. */
  plannedDeletions(limit: number): Promise<Deletion[]>;
  /** Removes a deletion that is finished from the plan. */
  endDeletion(deletion: Deletion): Promise<void>;
  /** Removes the thread from its user's names and the channel's lists. `tells`: webhook events (outbox.ts), written by the first such step only. */
  unlistThread(deletion: Deletion, tells?: readonly SealedTelling[]): Promise<void>;
  /** Removes the user with its tokens, and everything that refers to it; resolves to the uids of its threads, even when repeated. */
  unlistUser(deletion: Deletion, tells?: readonly SealedTelling[]): Promise<string[]>;
  /** Replaces the thread by a tombstone. */
  eraseThread(uid: string, atMs: number): Promise<ErasedThread>;
  /** The same, but only if `rev` is its revision or it is a tombstone already; null: nothing was done. */
  eraseUnchanged(uid: string, atMs: number, rev: number): Promise<ErasedThread | null>;
  /** The user up to which retention has checked the channel; null: it starts from the beginning. */
  sweepPlace(slug: string): Promise<string | null>;
  setSweepPlace(slug: string, place: string | null): Promise<void>;
}

export interface Deletion {
  kind: "thread" | "user";
  slug: string;
  /** The service's own id: a thread's uid, or a user's id. */
  id: string;
  /** When the deletion was planned; the same in every repeat of its steps. */
  atMs: number;
}

export interface ErasedThread {
  /** The fence that held it; null: none. A repeat may return it again. */
  fence: string | null;
  /** Processes that watch it. */
  watchers: string[];
}
