import type { Attributes } from "../domain/people/attributes.ts";
import type { RenamedThread } from "../domain/threads/renamed-threads.ts";
import type { ChannelState, User } from "../domain/people/user.ts";
import type { SealedTelling } from "./outbox.ts";
import type { Page } from "./page.ts";
import type { ThreadState } from "./threads.ts";

/** Users of a channel, their tokens, and which user a thread belongs to. */
export interface UserStore {
  mintVisitor(visitor: {
    slug: string;
    tokenHash: string;
    userId: string;
    snapshot: string;
    ttlMs: number;
    atMs: number;
    /** When the token ends in any case; absent: only lack of use ends it. */
    endsAtMs?: number;
  }): Promise<void>;
  /** Replaces a token of the user by a new one; the old one is invalid at once. False: the user has no such token. */
  rotateToken(rotation: {
    slug: string;
    tokenHash: string;
    userId: string;
    newTokenHash: string;
    ttlMs: number;
    endsAtMs?: number;
  }): Promise<boolean>;
  /** Calls back soon after a token was rotated anywhere, with the old token's hash; best effort. Returns how to stop. */
  onTokenRotated(callback: (tokenHash: string) => void): () => void;
  /** Ends all present tokens of the user, and notifies (onChange). False: no such user. */
  revokeTokens(slug: string, userId: string): Promise<boolean>;
  /** Null: no such token. Extends its lifetime to `ttlMs` from now. `threadId`: the name that the token's page uses (renamedThreads). */
  admitVisitor(visitor: {
    slug: string;
    tokenHash: string;
    ttlMs: number;
    threadId: string | null;
  }): Promise<VisitorAdmission | null>;
  /**
   * Null: no such channel. If the external id is new, creates the user with `newUserId`. A displayName replaces the stored
   * one; attributes replace the stored ones as a whole, so an empty map removes all. With `thread`, resolves to the uid of
   * that name: `thread.newUid` if the name is new, or another uid if a thread with `newUid` was deleted.
   * A user who may not talk (mayTalk) gets no new thread: `threadUid` is null.
   */
  admitUser(user: {
    slug: string;
    externalId: string;
    displayName: string | null;
    /** Absent: unchanged. */
    attributes?: Attributes | undefined;
    newUserId: string;
    /** `newUid: null`: do not create the thread; `threadUid` is null if the name is new. */
    thread: { name: string; newUid: string | null } | null;
    /** False: create and change nothing; resolve to null if the user is unknown. */
    creates: boolean;
    atMs: number;
  }): Promise<UserAdmission | null>;
  /** False: the user was merged meanwhile; admit again. */
  addThread(thread: {
    slug: string;
    userId: string;
    threadId: string;
    uid: string;
    atMs: number;
  }): Promise<boolean>;

  /** Threads whose name for this token differs from the name for its account; none if the token is gone. */
  renamedThreads(slug: string, tokenHash: string): Promise<RenamedThread[]>;

  /** The user's threads, the latest activity first. Activity: a new history item, or the thread's creation. */
  listThreads(list: {
    slug: string;
    userId: string;
    limit: number;
    /** The `next` of the page before; null: the first page. */
    after: ThreadPlace | null;
  }): Promise<ThreadList>;

  /** Adds to the user's model tokens of a UTC day, `YYYY-MM-DD`; for two days after a merge, to those of the account. */
  spendTokens(spent: { slug: string; userId: string; day: string; tokens: number }): Promise<void>;
  /** The model tokens of the user, or for two days after a merge of the account, on a UTC day; 0 if both are unknown. */
  spentTokens(slug: string, userId: string, day: string): Promise<number>;
  /** Adds model tokens of a UTC day under these names; kept for two days. */
  countTokens(counted: { names: readonly string[]; day: string; tokens: number }): Promise<void>;
  /** The tokens counted under each of these names on a UTC day, in the same order. */
  countedTokens(names: readonly string[], day: string): Promise<number[]>;

  /**
   * Removes an anonymous user who is neither blocked nor whitelisted and has no thread. False: there is no such user, or it
   * is another kind of user; nothing was changed.
   */
  dropSilentVisitor(slug: string, userId: string): Promise<boolean>;
  /** Does the user have a valid token? */
  hasValidToken(slug: string, userId: string): Promise<boolean>;

  /** What the user has granted the service at an MCP server: a text with its tokens; null: nothing, or the user is gone. */
  grant(slug: string, userId: string, server: string): Promise<string | null>;
  /** The servers at which the user has granted something, by name. */
  grantedServers(slug: string, userId: string): Promise<string[]>;
  /** Replaces it; `text` null removes it. False: the user is gone. */
  keepGrant(grant: { slug: string; userId: string; server: string; text: string | null }): Promise<boolean>;
  /** A sign-in that the user has begun, for `ttlMs`. False: the user is gone. */
  keepSignIn(signIn: {
    slug: string;
    userId: string;
    stateHash: string;
    text: string;
    ttlMs: number;
  }): Promise<boolean>;
  /** Gives it once, and to one caller alone. Null: there is none, it has expired, or its user is gone. */
  takeSignIn(slug: string, stateHash: string): Promise<{ userId: string; text: string } | null>;
  /** False: it was taken, or it has expired. */
  hasSignIn(slug: string, stateHash: string): Promise<boolean>;

  readIdentity(slug: string, tokenHash: string, externalId: string): Promise<IdentityReading>;
  /** `changed`: the data has changed since it was read; nothing was done. */
  promote(promotion: Promotion): Promise<"done" | "changed">;
  merge(merge: Merge): Promise<"done" | "changed">;

  /**
   * Sets an unreadable snapshot of a token aside and replaces it; does nothing if the token is gone or has another snapshot
   * by now.
   */
  mendToken(token: { slug: string; tokenHash: string; unreadable: string; snapshot: string }): Promise<void>;

  // For operators and the command line.
  /** By user id or external id. */
  findUser(slug: string, id: string): Promise<User | null>;
  /** Oldest first. */
  users(slug: string): Promise<User[]>;
  /** A page of the channel's users by creation. The order is stable while users are added and removed. */
  usersPage(slug: string, page: UserPage): Promise<Page<PlacedUser>>;
  /** Null: the user is gone. */
  flagUser(
    slug: string,
    userId: string,
    flags: { blocked?: boolean; whitelisted?: boolean },
  ): Promise<User | null>;
  /** Null: the user is gone. `displayName` null removes the name. */
  renameUser(slug: string, userId: string, displayName: string | null): Promise<User | null>;
  /** Oldest first. */
  threads(slug: string, userId: string): Promise<ThreadEntry[]>;
}

/** What admission needs for a visitor's request, read in one call, which also extends the token's lifetime. */
export interface VisitorAdmission extends UserAdmission {
  /** Snapshot text of the token's machine (machines/visitor.ts). */
  snapshot: string;
  /** When the token ends whatever its use; absent: use alone ends it. */
  endsAtMs?: number;
}

export interface UserAdmission {
  user: User;
  channel: ChannelState;
  /** The uid of the requested thread; null if none was requested, or if this user has no thread of that name. */
  threadUid: string | null;
}

/** What identify has read of both sides; the step that follows passes it on, and does nothing if it has changed. */
export interface IdentityReading {
  /** The token's user and snapshot; null if the token is unknown or expired. */
  visitor: { user: User; snapshot: string } | null;
  /** The account with the external id; null if there is none. */
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
  /** The webhook events of this change (outbox.ts). */
  tells?: SealedTelling[];
}

/**
 * Merge: the anonymous user's threads move to the account, and the anonymous user's record is deleted. If both have a thread
 * of the same name, the account's thread keeps it; for this token only, the two names are swapped
 * (domain/threads/renamed-threads.ts).
 */
export interface Merge {
  slug: string;
  tokenHash: string;
  /** Both as they were read. */
  from: User;
  into: User;
  /** The account after the merge: flags OR-ed; displayName and attributes its own, or else the visitor's. */
  result: User;
  snapshot: string;
  /** The webhook events of this change (outbox.ts). */
  tells?: SealedTelling[];
}

/** A thread of a user. `uid`: our own id, which the command line shows; `threadId`: the caller's or the widget's name for it. */
export interface ThreadEntry {
  uid: string;
  threadId: string;
  createdAtMs: number;
}

export interface UserPage {
  limit: number;
  /** Where the last page ended; null: from the start. An unknown place gives an empty page. */
  after: string | null;
  order: "oldest first" | "newest first";
  /** The caller needs blocked users only; the page may have others too. */
  blocked?: boolean;
}

export interface PlacedUser {
  user: User;
  createdAtMs: number;
  /** Its position among the channel's users. A place of another store, or of a removed user, is valid too. */
  place: string;
}

/** A thread as its user's list shows it. */
export interface ListedThread extends ThreadEntry {
  updatedAtMs: number;
  state: ThreadState;
  /** Only if a person was ever involved; it tells who answers. */
  snapshot?: string;
}

/** A page of a user's threads; `next`: where the next page begins, null: this is the end. */
export interface ThreadList {
  items: ListedThread[];
  next: ThreadPlace | null;
}

/** A place in the order by activity: latest first; at the same time, the greater uid first. */
export interface ThreadPlace {
  atMs: number;
  uid: string;
}
