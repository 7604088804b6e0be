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

/** A store as a backup reads it: past its operations, and beside a service that goes on changing it. */
export interface BackupSource {
  readonly kind: "embedded" | "redis";
  /** The store's format (store.ts). */
  format(): Promise<number>;
  counts(): Promise<Counts>;
  channels(): Promise<Channel[]>;
  blockedIps(): Promise<string[]>;
  operators(): Promise<Operator[]>;
  /** Some of its contents may be: users have keys. */
  isEncrypted(): Promise<boolean>;
  /** Oldest first, some at a time. */
  audit(): AsyncIterable<BackupAudit[]>;
  /** What happened, by channel and day. */
  stats(): AsyncIterable<BackupStats[]>;
  /** A channel's users, oldest first, some at a time, each as it is at one moment. */
  users(slug: string, which: "anonymous" | "accounts"): AsyncIterable<UserRead[]>;
  /** Of a user who has very many. */
  names(slug: string, userId: string): AsyncIterable<ThreadEntry[]>;
  /** Null: nothing was ever said in it. */
  thread(uid: string): Promise<ThreadRead | null>;
  /** What was deleted, some at a time; no part of a backup. */
  deletions(): AsyncIterable<Deletion[]>;
  /** Those that have not expired. */
  tokens(): AsyncIterable<BackupToken[]>;
  close(): Promise<void>;
}

/** `names`: null where they are too many to come along. */
export interface UserRead {
  record: BackupUser;
  names: ThreadEntry[] | null;
}

/** A thread as it was at one moment. The last record of `rest` makes it whole, else `first` does. */
export interface ThreadRead {
  first: ThreadPiece | WholeThread;
  rest: AsyncIterable<ThreadPiece | WholeThread> | null;
}

/** A restore that has begun: kept in the store until it is done. */
export interface Restoring {
  /** Of the file. */
  sha256: string;
  takenAtMs: number;
  /** So many records are written. */
  done: number;
  /** The channels that the store had: nobody may come in by them meanwhile. */
  channels: Channel[];
  /** Processes that held threads when the backup was taken: they are gone. */
  holders: string[];
}

/** What comes last: nobody comes in before it is there. */
export interface Restored {
  channels: Channel[];
  addresses: string[];
  operators: Operator[];
  holders: string[];
}

/** An empty store as a restore fills it. Whatever is written twice is the same. */
export interface RestoreTarget {
  readonly kind: "embedded" | "redis";
  format(): Promise<number>;
  /** No user, no thread, no token. */
  isEmpty(): Promise<boolean>;
  channels(): Promise<Channel[]>;
  /** Null: none has begun, or it is done. */
  restoring(): Promise<Restoring | null>;
  /** Notes the restore, and takes the store's channels away. */
  begin(restoring: Restoring): Promise<void>;
  /** What is a good share for one `put`. */
  readonly recordsAtOnce: number;
  /** Then `restoring.done` of the file's records are written. */
  put(records: readonly BackupRecord[], restoring: Restoring): Promise<void>;
  /** Opens these channels, lets the operators in and the holders' threads be taken over, and forgets that there was a restore. */
  finish(restored: Restored): Promise<void>;
}
