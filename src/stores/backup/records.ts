import type { AuditEntry } from "../../domain/people/audit.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import type { MessageClaim } from "../../domain/threads/message-claim.ts";
import type { Catalog } from "../../domain/threads/message.ts";
import type { Operator } from "../../domain/people/operator.ts";
import type { RenamedThread } from "../../domain/threads/renamed-threads.ts";
import type { User } from "../../domain/people/user.ts";
import type { PageDocument, PageRecord, SourceRecord } from "../../store/knowledge.ts";
import type { ThreadState } from "../../store/threads.ts";
import type { ThreadEntry } from "../../store/users.ts";
import type {
  StoredMessage,
  StoredRun,
  StoredSummary,
  StoredUserMessage,
} from "../records/stored-records.ts";

/**
 * The contents of a backup, independent of either store: each record is a line of the file (file.ts). A thread or
 * user ends with the record that completes it; the records before that one mean nothing without it.
 */
export type BackupRecord =
  | { type: "channel"; channel: Channel }
  | { type: "address"; address: string }
  | { type: "operator"; operator: Operator }
  | BackupAudit
  | BackupStats
  | { type: "source"; slug: string; source: SourceRecord }
  | BackupPage
  | BackupNames
  | BackupUser
  | BackupToken
  | { type: "moved"; uid: string }
  | ThreadPiece
  | WholeThread;

/** An entry of the audit; `nth` among those of its millisecond. */
export interface BackupAudit {
  type: "audit";
  nth: number;
  entry: AuditEntry;
}

/** A channel's statistics of a day. */
export interface BackupStats {
  type: "stats";
  slug: string;
  day: string;
  counts: Record<string, number>;
  /** How many users sent messages. */
  visitors: number;
  /** Their ids, as far as they are known, so that none of them counts twice. */
  speakers?: string[];
}

/** A page of a channel's documents. */
export interface BackupPage {
  type: "page";
  slug: string;
  /** The source's name. */
  source: string;
  page: PageRecord;
  document: PageDocument;
}

/** Some of a user's names for threads. */
export interface BackupNames {
  type: "names";
  slug: string;
  userId: string;
  names: ThreadEntry[];
}

export interface BackupUser {
  type: "user";
  slug: string;
  user: User;
  createdAtMs: number;
  /** Among the users of one millisecond. */
  nth: number;
  spent: { day: string; tokens: number }[];
  revocations?: number;
  /** Wrapped, as the store has them. */
  contentKeys?: Record<string, string>;
}

export interface BackupToken {
  type: "token";
  slug: string;
  tokenHash: string;
  userId: string;
  snapshot: string;
  expiresAtMs: number;
  revocations?: number;
  endsAtMs?: number;
  renamed?: RenamedThread[];
}

/** The growing lists of a thread, or a part of them. `…From`: how many entries come before these. */
export interface ThreadLists {
  messagesFrom: number;
  messages: StoredMessage[];
  runsFrom: number;
  runs: StoredSummary[];
  parts: KeptPart[];
  claims: MessageClaim[];
}

export interface KeptPart {
  runId: string;
  nth: number;
  text: string;
}

/** `first`: the thread's first record. */
export interface ThreadPiece extends ThreadLists {
  type: "piece";
  uid: string;
  first: boolean;
}

/** The last record of a thread; for most threads the only one. */
export interface WholeThread extends ThreadLists {
  type: "thread";
  uid: string;
  first: boolean;
  slug: string;
  createdAtMs: number | null;
  rev: number;
  fence: string | null;
  state: ThreadState;
  snapshot: string | null;
  catalog: Catalog;
  run: StoredRun | null;
  waiting: StoredUserMessage[];
  /** Which of its messages are in other branches, as ranges; absent: none. */
  hidden?: string;
  /** How many messages its summary covers, which is among the parts; absent: there is none. */
  summarized?: number;
  /** When the pending call expires, if the thread is waiting for one. */
  dueAtMs: number | null;
  /** Events for webhooks that are not delivered yet; absent: there were none. */
  told?: ToldOfThread;
}

/** `count`: of all events so far. A text is as it is stored. */
export interface ToldOfThread {
  count: number;
  waiting: { nth: string; endpoint: string; text: string }[];
}

/** The number of each kind in a backup. */
export interface Counts {
  channels: number;
  users: number;
  threads: number;
  tokens: number;
  messages: number;
}

export const NOTHING: Readonly<Counts> = { channels: 0, users: 0, threads: 0, tokens: 0, messages: 0 };

export function count(counts: Counts, record: BackupRecord): void {
  if (record.type === "channel") counts.channels += 1;
  else if (record.type === "user") counts.users += 1;
  else if (record.type === "token") counts.tokens += 1;
  else if (record.type === "thread") counts.threads += 1;
  if (record.type === "thread" || record.type === "piece") counts.messages += record.messages.length;
}
