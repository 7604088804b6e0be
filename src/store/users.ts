import type { Attributes } from "../domain/attributes.ts";
import type { RenamedThread } from "../domain/renamed-threads.ts";
import type { ChannelState, User } from "../domain/user.ts";
import type { SealedTelling } from "./outbox.ts";
import type { Page } from "./page.ts";
import type { ThreadState } from "./threads.ts";

/** Users of a channel, their tokens, and whose a thread is. */
export interface UserStore {
  mintVisitor(visitor: {
    slug: string;
    tokenHash: string;
    userId: string;
    snapshot: string;
    ttlMs: number;
    atMs: number;
    /** Ends it whatever its use; absent: nothing does. */
    endsAtMs?: number;
  }): Promise<void>;
  /** Puts a new token in the place of one that is the user's, and is gone at once. False: it was not, or not any more. */
  rotateToken(rotation: {
    slug: string;
    tokenHash: string;
    userId: string;
    newTokenHash: string;
    ttlMs: number;
    endsAtMs?: number;
  }): Promise<boolean>;
  /** Calls back soon after a token was rotated anywhere, with the hash of the old one; best effort. Returns how to stop. */
  onTokenRotated(callback: (tokenHash: string) => void): () => void;
  /** Ends every token that the user has now, and counts as a change (onChange). False: no such user. */
  revokeTokens(slug: string, userId: string): Promise<boolean>;
  /** Null: no such token. Slides its lifetime to `ttlMs` from now. `threadId` as the token's page says it (renamedThreads). */
  admitVisitor(visitor: {
    slug: string;
    tokenHash: string;
    ttlMs: number;
    threadId: string | null;
  }): Promise<VisitorAdmission | null>;
  /**
   * Null: no such channel. Creates the user where the external id is new, with `newUserId`; a displayName replaces the
   * stored one, and so do attributes, as a whole: an empty map leaves none. With `thread`, the name's uid, which is `thread.newUid`
   * where the name is new, and another one where a thread of that uid was deleted.
   * A user who may not talk (mayTalk) gets no new thread: its `threadUid` is null.
   */
  admitUser(user: {
    slug: string;
    externalId: string;
    displayName: string | null;
    /** Absent: as they are stored. */
    attributes?: Attributes | undefined;
    newUserId: string;
    /** `newUid: null`: do not create the thread, answer null where the name is new. */
    thread: { name: string; newUid: string | null } | null;
    /** False: create nothing and change nothing; null where the user is unknown. */
    creates: boolean;
    atMs: number;
  }): Promise<UserAdmission | null>;
  /** False: the user is gone, merged meanwhile; admit again. */
  addThread(thread: {
    slug: string;
    userId: string;
    threadId: string;
    uid: string;
    atMs: number;
  }): Promise<boolean>;

  /** Threads that have another name for this token than for its account; none where the token is gone. */
  renamedThreads(slug: string, tokenHash: string): Promise<RenamedThread[]>;

  /** The user's threads, the latest activity first: when an item entered the history last, or the thread was made. */
  listThreads(list: {
    slug: string;
    userId: string;
    limit: number;
    /** The `next` of the page before; null: the first page. */
    after: ThreadPlace | null;
  }): Promise<ThreadList>;

  /** Adds to the user's tokens of a UTC day, `YYYY-MM-DD`; for two days after a merge, to those of the account. */
  spendTokens(spent: { slug: string; userId: string; day: string; tokens: number }): Promise<void>;
  /** What the user, or for two days after a merge the account, has used on a UTC day; 0 where there is neither. */
  spentTokens(slug: string, userId: string, day: string): Promise<number>;
  /** Adds to the tokens of a UTC day that are counted under these names; kept for two days. */
  countTokens(counted: { names: readonly string[]; day: string; tokens: number }): Promise<void>;
  /** What was counted under each name on a UTC day, in their order. */
  countedTokens(names: readonly string[], day: string): Promise<number[]>;

  /**
   * Removes an anonymous user who is neither blocked nor whitelisted and has no thread. False: there is none, or no such
   * user; nothing was changed.
   */
  dropSilentVisitor(slug: string, userId: string): Promise<boolean>;
  /** May somebody still come in as this user with a token? Null: not known yet, of tokens that earlier versions made. */
  hasValidToken(slug: string, userId: string): Promise<boolean | null>;

  readIdentity(slug: string, tokenHash: string, externalId: string): Promise<IdentityReading>;
  /** `changed`: what was read no longer holds; nothing was done. */
  promote(promotion: Promotion): Promise<"done" | "changed">;
  merge(merge: Merge): Promise<"done" | "changed">;

  /**
   * Sets a token's snapshot aside that cannot be read, and puts another in its place; does nothing where the token is gone
   * or has another snapshot by now.
   */
  mendToken(token: { slug: string; tokenHash: string; unreadable: string; snapshot: string }): Promise<void>;

  // For operators, the command line and the inspector.
  /** By user id or external id. */
  findUser(slug: string, id: string): Promise<User | null>;
  /** Oldest first. */
  users(slug: string): Promise<User[]>;
  /** A page of the channel's users by creation: the same users come in the same order, whoever comes or goes meanwhile. */
  usersPage(slug: string, page: UserPage): Promise<Page<PlacedUser>>;
  /** Null: the user is gone. */
  flagUser(
    slug: string,
    userId: string,
    flags: { blocked?: boolean; whitelisted?: boolean },
  ): Promise<User | null>;
  /** Null: the user is gone. A name that is null is taken away. */
  renameUser(slug: string, userId: string, displayName: string | null): Promise<User | null>;
  /** Oldest first. */
  threads(slug: string, userId: string): Promise<ThreadEntry[]>;
}

/** What a visitor's request needs to know before it may come in; read in one call, which also slides the token's lifetime. */
export interface VisitorAdmission extends UserAdmission {
  /** Snapshot text of the token's machine (machines/visitor.ts). */
  snapshot: string;
}

export interface UserAdmission {
  user: User;
  channel: ChannelState;
  /** Uid of the thread that was asked for; null where none was, or where the name is not one of this user's threads. */
  threadUid: string | null;
}

/** What identify read of both sides; the step that follows names it, and does nothing where it no longer holds. */
export interface IdentityReading {
  /** The token's user and the token's snapshot; null where the token is unknown or expired. */
  visitor: { user: User; snapshot: string } | null;
  /** The account that the external id names; null where there is none. */
  account: User | null;
}

/** Promote: the anonymous user becomes the account. */
export interface Promotion {
  slug: string;
  tokenHash: string;
  externalId: string;
  /** As it was read. */
  user: User;
  /** The token's new snapshot. */
  snapshot: string;
  /** What the channel's webhooks are told of it (outbox.ts). */
  tells?: SealedTelling[];
}

/**
 * Merge: the anonymous user's threads move to the account, and its record is deleted. Where both have a name, the account's
 * thread keeps it, and the two change places for the token alone (domain/renamed-threads.ts).
 */
export interface Merge {
  slug: string;
  tokenHash: string;
  /** Both as they were read. */
  from: User;
  into: User;
  /** The account as it shall be: flags OR-ed, displayName and attributes kept or taken. */
  result: User;
  snapshot: string;
  /** What the channel's webhooks are told of it (outbox.ts). */
  tells?: SealedTelling[];
}

/** A thread in a user's list. `uid` is the id that the command line shows, `threadId` the caller's or the widget's name for it. */
export interface ThreadEntry {
  uid: string;
  threadId: string;
  createdAtMs: number;
}

export interface UserPage {
  limit: number;
  /** Where the last page ended; null: from the start. A place that is none gives an empty page. */
  after: string | null;
  order: "oldest first" | "newest first";
  /** Blocked users are enough: others may be among them all the same. */
  blocked?: boolean;
}

export interface PlacedUser {
  user: User;
  createdAtMs: number;
  /** Where it stands among the channel's users; another store's, or a user's who is gone since, is a place too. */
  place: string;
}

/** A thread as its user's list shows it. */
export interface ListedThread extends ThreadEntry {
  updatedAtMs: number;
  state: ThreadState;
  /** Only where it ever changed who answers: it tells who does. */
  snapshot?: string;
}

/** A page of a user's threads; `next`: where the following one begins, null where there is none. */
export interface ThreadList {
  items: ListedThread[];
  next: ThreadPlace | null;
}

/** A place in the order by activity: later first, and of two at once the one with the greater uid. */
export interface ThreadPlace {
  atMs: number;
  uid: string;
}
