import type { AuditEntry } from "../../domain/audit.ts";
import type { Channel } from "../../domain/channel.ts";
import type { MessageClaim } from "../../domain/message-claim.ts";
import type { Catalog, Message, RunRecord, UserMessage } from "../../domain/message.ts";
import type { Operator } from "../../domain/operator.ts";
import type { RenamedThread } from "../../domain/renamed-threads.ts";
import type { User } from "../../domain/user.ts";
import type { RunSummary, ThreadState } from "../../store/threads.ts";
import type { ThreadEntry } from "../../store/users.ts";

/**
 * What a backup holds, in words of no store's own: each record is a line of the file (file.ts). A thread and a user end
 * with the record that makes them whole; what comes before it means nothing without it.
 */
export type BackupRecord =
  | { type: "channel"; channel: Channel }
  | { type: "address"; address: string }
  | { type: "operator"; operator: Operator }
  | BackupAudit
  | BackupStats
  | BackupNames
  | BackupUser
  | BackupToken
  | { type: "moved"; uid: string }
  | ThreadPiece
  | WholeThread;

/** An entry of the audit; `nth` of those of its millisecond. */
export interface BackupAudit {
  type: "audit";
  nth: number;
  entry: AuditEntry;
}

/** What happened in a channel on a day. */
export interface BackupStats {
  type: "stats";
  slug: string;
  day: string;
  counts: Record<string, number>;
  /** How many spoke. */
  visitors: number;
  /** Who of them, where that is known; so none of them counts twice. */
  speakers?: string[];
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
  /** Of the users of one millisecond. */
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

/** What grows in a thread, or a part of it. `…From`: how many of them stand before these. */
export interface ThreadLists {
  messagesFrom: number;
  messages: Message[];
  runsFrom: number;
  runs: RunSummary[];
  parts: KeptPart[];
  claims: MessageClaim[];
}

export interface KeptPart {
  runId: string;
  nth: number;
  text: string;
}

/** `first`: of its thread. */
export interface ThreadPiece extends ThreadLists {
  type: "piece";
  uid: string;
  first: boolean;
}

/** The end of a thread; of most threads, all of it. */
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
  run: RunRecord | null;
  waiting: UserMessage[];
  /** When the pending call expires, where the thread rests. */
  dueAtMs: number | null;
  /** What webhooks are still to be told; absent: they were told nothing of it. */
  told?: ToldOfThread;
}

/** `count`: of all events so far. A text is as the store has it. */
export interface ToldOfThread {
  count: number;
  waiting: { nth: string; endpoint: string; text: string }[];
}

/** How many of each a backup holds. */
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
