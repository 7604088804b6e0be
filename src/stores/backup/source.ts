import type { Channel } from "../../domain/channel.ts";
import type { Operator } from "../../domain/operator.ts";
import type { Deletion } from "../../store/deletions.ts";
import type { ThreadEntry } from "../../store/users.ts";
import type {
  BackupAudit,
  BackupRecord,
  BackupStats,
  BackupToken,
  BackupUser,
  Counts,
  ThreadPiece,
  WholeThread,
} from "./records.ts";

/** A store as the source of a backup: read directly, not by its operations, while a service changes it. */
export interface BackupSource {
  readonly kind: "embedded" | "redis";
  /** The store's format (store.ts). */
  format(): Promise<number>;
  counts(): Promise<Counts>;
  channels(): Promise<Channel[]>;
  blockedIps(): Promise<string[]>;
  operators(): Promise<Operator[]>;
  /** True if users have keys: some contents may be encrypted. */
  isEncrypted(): Promise<boolean>;
  /** Oldest first, in pages. */
  audit(): AsyncIterable<BackupAudit[]>;
  /** The statistics, by channel and day. */
  stats(): AsyncIterable<BackupStats[]>;
  /** A channel's users, oldest first, in pages, each as it is at one moment. */
  users(slug: string, which: "anonymous" | "accounts"): AsyncIterable<UserRead[]>;
  /** For a user with very many threads. */
  names(slug: string, userId: string): AsyncIterable<ThreadEntry[]>;
  /** Null: the thread has no record. */
  thread(uid: string): Promise<ThreadRead | null>;
  /** The deletions, in pages; not part of a backup. */
  deletions(): AsyncIterable<Deletion[]>;
  /** Tokens that have not expired. */
  tokens(): AsyncIterable<BackupToken[]>;
  close(): Promise<void>;
}

/** `names`: null if they are too many to be read with the user. */
export interface UserRead {
  record: BackupUser;
  names: ThreadEntry[] | null;
}

/** A thread as it was at one moment. The last record of `rest` completes it, or `first` if there is no rest. */
export interface ThreadRead {
  first: ThreadPiece | WholeThread;
  rest: AsyncIterable<ThreadPiece | WholeThread> | null;
}

/** A restore that has begun: stored until it is done. */
export interface Restoring {
  /** Of the file. */
  sha256: string;
  takenAtMs: number;
  /** How many records are written. */
  done: number;
  /** The channels that the store had: meanwhile they admit no request. */
  channels: Channel[];
  /** Processes that held threads when the backup was taken: they are dead. */
  holders: string[];
}

/** What is written last: until then no request is admitted. */
export interface Restored {
  channels: Channel[];
  addresses: string[];
  operators: Operator[];
  holders: string[];
}

/** An empty store as the target of a restore. Every write may be repeated. */
export interface RestoreTarget {
  readonly kind: "embedded" | "redis";
  format(): Promise<number>;
  /** No user, no thread, no token. */
  isEmpty(): Promise<boolean>;
  channels(): Promise<Channel[]>;
  /** Null: none has begun, or it is done. */
  restoring(): Promise<Restoring | null>;
  /** Notes the restore, and removes the store's channels. */
  begin(restoring: Restoring): Promise<void>;
  /** A good number of records for one `put`. */
  readonly recordsAtOnce: number;
  /** After it, `restoring.done` records of the file are written. */
  put(records: readonly BackupRecord[], restoring: Restoring): Promise<void>;
  /**
   * Writes channels, addresses and operators, has the holders' threads taken over, and removes the note of the
   * restore.
   */
  finish(restored: Restored): Promise<void>;
}
