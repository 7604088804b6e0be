import type { Channel } from "./domain/channel.ts";
import type { Catalog, Message, RunRecord, UserMessage } from "./domain/message.ts";
import type { ChannelState, User } from "./domain/user.ts";

/**
 * The store contract: what is kept, and the steps in which it changes.
 *
 * Stores keep, they do not decide: each operation is one atomic step on one key slot, and the rules that choose the
 * step live in domain/ and machines/. Two planes: the channel plane (`{c:SLUG}`: channels, users, tokens, and whose a
 * thread is) and the thread plane (`{t:BUCKET}`: everything inside a thread, by its uid, without a user's name).
 *
 * A promise resolves when the change is as durable as DURABILITY asks. Every call is bounded by STORE_DEADLINE_MS and
 * rejects with StoreUnavailable past it; the outcome is then unknown, and a repeat with the same `opId` answers what
 * the first one did. Implementations: stores/embedded.ts and stores/redis.ts; test/stores/contract.ts holds both to this page.
 */
export const STORE_DEADLINE_MS = 2_000;

/** The store cannot be reached, did not answer in time, or could not make a change as durable as it must be. */
export class StoreUnavailable extends Error {
  constructor(action: string, options: { cause?: unknown; fact?: string } = {}) {
    const { fact = "the store does not answer", cause } = options;
    super(`Cannot ${action}: ${fact}`, cause === undefined ? {} : { cause });
    this.name = "StoreUnavailable";
  }
}

/** What a visitor's request needs to know before it may come in; read in one call, which also slides the token's lifetime. */
export interface VisitorAdmission {
  user: User;
  /** Snapshot text of the token's machine (machines/visitor.ts). */
  snapshot: string;
  channel: ChannelState;
  /** Uid of the thread that was asked for; null where the name is not one of this user's threads. */
  threadUid: string | null;
  /** Tokens the user has used on the UTC day that was asked for. */
  spentTokens: number;
}

export interface UserAdmission {
  user: User;
  channel: ChannelState;
  /** Uid of the thread that was asked for; null where none was asked for. */
  threadUid: string | null;
  spentTokens: number;
}

/** `idle`: no run. `running`: a process holds the thread. `awaiting`: a page call is pending, nothing is in memory. */
export type ThreadState = "idle" | "running" | "awaiting";

/** A thread as load reads it. */
export interface ThreadRecord {
  uid: string;
  slug: string;
  /** Counts the commits; 0 before the first one. */
  rev: number;
  /** Who holds the thread: `PROCESS:RANDOM`; null while nobody does. */
  fence: string | null;
  state: ThreadState;
  /** Snapshot text of machines/thread.ts; null before the first message. */
  snapshot: string | null;
  catalog: Catalog;
  /** The active or last run; null before the first message. */
  run: RunRecord | null;
  /** The newest messages, oldest first, as many as fit the budget that load was given. */
  tail: Message[];
  /** How many messages the history holds: the next one's id is this plus one. */
  messageCount: number;
  /** How many messages wait in the queue. */
  waitingCount: number;
}

/** One atomic change of a thread: everything a transition asks to be saved. */
export interface ThreadCommit {
  uid: string;
  slug: string;
  /** Names this attempt to change the thread: a repeat answers what the first one answered, and changes nothing. */
  opId: string;
  /** `PROCESS:RANDOM` of whoever commits. */
  fence: string;
  /** True: take the thread, which nobody (or only `takesFrom`) may hold. False: the fence must hold it already. */
  claims: boolean;
  /** A fence whose process is known to be gone; its hold does not count. */
  takesFrom: string | null;
  /** The revision that the decision was made on. */
  rev: number;
  atMs: number;
  snapshot: string;
  state: ThreadState;
  run: RunRecord;
  /** Another run than `run` that this commit ends (superseded); kept in the list of runs. */
  endedRun: RunRecord | null;
  /** Appended to the history, in order. */
  messages: Message[];
  /** The waiting message that this commit starts: removed from the head of the queue; null where none. */
  startsWaiting: string | null;
  /** True: go on holding the thread. False: let go, unless a message waits. */
  holds: boolean;
  /** With state `awaiting`: when the pending call expires, for the sweep. */
  deadlineMs: number | null;
  /** With `claims`: where the thread is held, this message waits in its queue instead. */
  orWait: { message: UserMessage; max: number } | null;
}

export type CommitResult =
  /** `next`: the message that waits at the head of the queue; the fence then still holds the thread, whatever `holds` said. */
  | { type: "committed"; rev: number; next: UserMessage | null }
  /** The thread is held by `fence`; with `orWait` the message waits now. */
  | { type: "waiting"; fence: string }
  /** The thread is held, and its queue is full. */
  | { type: "full"; fence: string }
  /** Nobody holds it, but it is not as it was read: load again. */
  | { type: "changed" }
  /** Another one holds it: stop, change nothing, never retry. */
  | { type: "fenced" };

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
}

/** Merge: the anonymous user's threads move to the account, and its record is deleted. */
export interface Merge {
  slug: string;
  tokenHash: string;
  /** Both as they were read. */
  from: User;
  into: User;
  /** The account as it shall be: flags OR-ed, displayName kept or taken. */
  result: User;
  snapshot: string;
}

/** A thread in a user's list. `uid` is the id that the command line shows, `name` the caller's or the widget's threadId. */
export interface ThreadEntry {
  uid: string;
  threadId: string;
  createdAtMs: number;
}

export interface HistoryPage {
  limit: number;
  /** Id of a message: only older ones. An unknown id gives an empty list. */
  before: string | null;
}

/** A finished run in short form, for the command line and the inspector. */
export interface RunSummary {
  runId: string;
  saidAtMs: number;
  outcome: RunRecord["outcome"];
  path: RunRecord["path"];
  terminal: RunRecord["terminal"];
}

/** A message from one instance to another; best effort. */
export type InstanceMessage = Record<string, unknown>;

export interface StoreHealth {
  reachable: boolean;
  /** One sentence for each promise that the server's settings cannot keep (eviction, no persistence, no replica). */
  warnings: string[];
}

export interface Store {
  readonly kind: "embedded" | "redis";
  /** This process, in fences and messages: random, new at each start. */
  readonly processId: string;

  // ---- channels and addresses: kept in memory by every instance, renewed by the notice and by reading
  channels(): Promise<Channel[]>;
  channel(slug: string): Promise<Channel | null>;
  /** Writes the whole channel and gives the notice. */
  putChannel(channel: Channel): Promise<void>;
  /** Addresses and CIDR ranges. */
  blockedIps(): Promise<string[]>;
  blockIp(address: string): Promise<void>;
  /** False where it was not blocked. */
  unblockIp(address: string): Promise<boolean>;
  /** A number that grows with every change of channels or addresses. */
  changeCount(): Promise<number>;
  /** Calls back soon after a change made anywhere; best effort. Returns how to stop. */
  onChange(callback: () => void): () => void;

  // ---- visitors and users
  mintVisitor(visitor: {
    slug: string;
    tokenHash: string;
    userId: string;
    snapshot: string;
    ttlMs: number;
    atMs: number;
  }): Promise<void>;
  /** Null: no such token. Slides its lifetime to `ttlMs` from now. `day` is `YYYY-MM-DD`. */
  admitVisitor(visitor: {
    slug: string;
    tokenHash: string;
    ttlMs: number;
    threadId: string | null;
    day: string;
  }): Promise<VisitorAdmission | null>;
  /**
   * Null: no such channel. Creates the user where the external id is new, with `newUserId`; a displayName replaces the
   * stored one. With `thread`, the name's uid, which is `thread.newUid` where the name is new.
   */
  admitUser(user: {
    slug: string;
    externalId: string;
    displayName: string | null;
    newUserId: string;
    /** `newUid: null`: do not create the thread, answer null where the name is new. */
    thread: { name: string; newUid: string | null } | null;
    /** False: create nothing and change nothing; null where the user is unknown. */
    creates: boolean;
    atMs: number;
    day: string;
  }): Promise<UserAdmission | null>;
  /** False: the user is gone, merged meanwhile; admit again. */
  addThread(thread: {
    slug: string;
    userId: string;
    threadId: string;
    uid: string;
    atMs: number;
  }): Promise<boolean>;
  /** Adds to the user's tokens of a UTC day; nothing where the user is gone. */
  spendTokens(spent: { slug: string; userId: string; day: string; tokens: number }): Promise<void>;
  /** What the user has used on a UTC day; 0 where the user is gone. */
  spentTokens(slug: string, userId: string, day: string): Promise<number>;

  readIdentity(slug: string, tokenHash: string, externalId: string): Promise<IdentityReading>;
  /** `changed`: what was read no longer holds; nothing was done. */
  promote(promotion: Promotion): Promise<"done" | "changed">;
  merge(merge: Merge): Promise<"done" | "changed">;

  // ---- for the command line and the inspector
  /** By user id or external id. */
  findUser(slug: string, id: string): Promise<User | null>;
  /** Oldest first. */
  users(slug: string): Promise<User[]>;
  flagUser(
    slug: string,
    userId: string,
    flags: { blocked?: boolean; whitelisted?: boolean },
  ): Promise<User | null>;
  /** Oldest first. */
  threads(slug: string, userId: string): Promise<ThreadEntry[]>;

  // ---- threads
  /** Null: nothing was ever committed. `budgetChars` bounds the sum of the tail's contents; at least one message. */
  load(uid: string, budgetChars: number): Promise<ThreadRecord | null>;
  commit(commit: ThreadCommit): Promise<CommitResult>;
  /**
   * Keeps a part of a run's text (domain/kept-text.ts). Parts count up from 0; the same number again replaces it.
   * Runs and messages are committed without what their `kept` says is in parts; load and history give them whole.
   * False: the fence does not hold the thread.
   */
  keepPart(part: { uid: string; fence: string; runId: string; nth: number; text: string }): Promise<boolean>;
  /** The text of a run's first so many parts. */
  keptText(uid: string, runId: string, parts: number): Promise<string>;
  /** A message of somebody whose thread is held: `free` where nobody holds it any more (claim it then). */
  wait(
    uid: string,
    message: UserMessage,
    max: number,
  ): Promise<{ type: "waiting"; fence: string } | { type: "full" } | { type: "free" }>;
  /** Replaces the catalog; an empty one clears it. The revision is not touched. */
  setCatalog(uid: string, slug: string, catalog: Catalog): Promise<void>;
  /** Oldest first. */
  history(uid: string, page: HistoryPage): Promise<Message[]>;
  /** Finished and active, oldest first, the newest `limit`. */
  runs(uid: string, limit: number): Promise<RunSummary[]>;

  // ---- liveness: who lives, and which threads somebody should look after
  /** Says that this process lives, and answers which processes were last heard of more than `ttlMs` ago. */
  beat(ttlMs: number): Promise<string[]>;
  /** Says that this process will not beat again: the others find it silent at their next beat. */
  retire(): Promise<void>;
  /** Threads that a process of this id holds; on the embedded store also of every process but this one (`null`). */
  heldBy(processId: string | null): Promise<{ uid: string; fence: string }[]>;
  /** A process whose threads have all been taken is forgotten. */
  forget(processId: string): Promise<void>;
  /** Threads whose pending call's deadline is at or before `atMs`; at most `limit`. */
  due(atMs: number, limit: number): Promise<string[]>;

  /** To another instance; best effort, never awaited for safety. */
  send(processId: string, message: InstanceMessage): void;
  /** Messages to this process. One handler. */
  onMessage(handler: (message: InstanceMessage) => void): void;

  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}
