import type {
  Catalog,
  Feedback,
  Message,
  MessageClaim,
  RunRecord,
  UserMessage,
} from "../domain/threads/message.ts";
import type { AnswererChange } from "../domain/threads/answerer-change.ts";
import type { Hides, Ranges } from "../domain/threads/branches.ts";
import type { KeptFile } from "../domain/threads/files.ts";
import type { HistorySummary } from "../domain/threads/history-summary.ts";
import type { Telling } from "../domain/channels/webhook.ts";
import type { ThreadState } from "../protocol/threads.ts";
import type { ToldRef } from "./outbox.ts";
import type { UnreadableRecord } from "./unreadable.ts";

/** Everything inside a thread, by its uid, without a user's name. */
export interface ThreadStore {
  /**
   * Null: nothing was ever committed, or the thread was deleted. `budgetChars` limits the sum of the tail's contents, but at
   * least one message is read. `runs`: by default the last run is read too, even if it is over.
   */
  load(uid: string, budgetChars: number, runs?: RunsRead): Promise<ThreadRecord | null>;
  commit(commit: ThreadCommit): Promise<CommitResult>;
  /**
   * Stores a part of a run's text (domain/threads/kept-text.ts). Parts are numbered from 0; storing the same number again replaces
   * the part. Runs and messages are committed without the text that `kept` says is in parts; load and history return it
   * whole. False: the fence does not hold the thread.
   */
  keepPart(part: { uid: string; fence: string; runId: string; nth: number; text: string }): Promise<boolean>;
  /** The text of a run's parts from number `from` (by default 0) up to, but not including, number `parts`. */
  keptText(uid: string, runId: string, parts: number, from?: number): Promise<string>;
  /**
   * Stores the images of a message (data: URLs) under its run, before the message itself and therefore without a fence: a
   * process that cannot store the message drops them. Repeating a run replaces them. False: the thread was deleted.
   */
  keepImages(kept: {
    uid: string;
    runId: string;
    images: readonly string[];
    /** The channel, whose user's key encrypts them: a new thread has no record yet that names it. */
    slug?: string;
  }): Promise<boolean>;
  /** Empty if there are none. */
  keptImages(uid: string, runId: string): Promise<string[]>;
  dropImages(uid: string, runId: string): Promise<void>;
  /**
   * Stores a file that a message is to name, for UPLOAD_MS; one of the same id replaces it. The thread need not exist. False: it
   * was deleted.
   */
  keepUpload(upload: { uid: string; slug: string; file: KeptFile; bytes: Uint8Array }): Promise<boolean>;
  /** Makes these files the thread's, before the message that names them; repeating it changes nothing, nor does naming them again. */
  takeUploads(
    uid: string,
    ids: readonly string[],
  ): Promise<{ type: "taken"; files: KeptFile[] } | { type: "missing"; id: string } | { type: "deleted" }>;
  /** Drops the bytes of files that no message has named in time, where these are outside the store; in it they expire. */
  dropOldUploads(): Promise<void>;
  /** What is known of a thread's file; null: it has none of this id. */
  keptFile(uid: string, id: string): Promise<KeptFile | null>;
  /** Null: there are none. */
  keptFileBytes(uid: string, id: string): Promise<Uint8Array | null>;
  /** The summary of a thread's history; null: none. A load reads it, too. */
  historySummary(uid: string): Promise<HistorySummary | null>;
  /**
   * Replaces the summary, without a fence: it affects no run, and the revision does not change. `after`: up to which message the
   * former one goes, 0 if there is none. `hidden`: what was in other branches as the messages were read; absent: nothing. False: another one
   * was kept meanwhile, or another branch chosen, or the thread was deleted.
   */
  keepHistorySummary(kept: {
    uid: string;
    slug: string;
    summary: HistorySummary;
    after: number;
    hidden?: Ranges;
  }): Promise<boolean>;
  /** Puts a message into the queue of a thread that is held. `free`: nobody holds it any more, so claim it. */
  wait(
    uid: string,
    message: UserMessage,
    max: number,
  ): Promise<
    | { type: "waiting"; fence: string }
    | { type: "full" }
    | { type: "free" }
    | { type: "deleted" }
    | SaidBefore
  >;
  /** The run ids of the queued messages, in order of arrival. */
  waitingRuns(uid: string): Promise<string[]>;
  /** Replaces the catalog; an empty one clears it. The revision does not change. False: the thread was deleted. */
  setCatalog(uid: string, slug: string, catalog: Catalog): Promise<boolean>;
  /**
   * Rates a reply, without a fence: it does not affect a run, and the revision does not change. Repeating a rating
   * (isSameFeedback) changes nothing and causes no webhook event.
   */
  rate(rating: Rating): Promise<Rated>;
  /** The latest changes of who answers, MOST_SHOWN at most, of those up to this epoch; oldest first. Versions before 0.2.0 stored none. */
  answererChanges(uid: string, epoch: number): Promise<AnswererChange[]>;
  /** Oldest first. */
  history(uid: string, page: HistoryPage): Promise<Message[]>;
  /** The thread's state, and the history items after the first `from`; null: the state only. `all`: those of all branches. */
  look(uid: string, from: number | null, options?: { all?: true }): Promise<ThreadLook>;
  /** The `opId` of the last commit; null before the first. While it is the same, a look finds nothing new. May be stale. */
  lastOp(uid: string): Promise<string | null>;
  /** For WATCH_MS, the answer to each commit to the thread names this process as a watcher. */
  watch(uid: string): Promise<void>;
  /** The processes that watch the thread, as the answer to a commit names them. */
  watchers(uid: string): Promise<string[]>;
  /** Null: this id was not used in the thread. */
  claimed(uid: string, clientMessageId: string): Promise<MessageClaim | null>;
  /** Finished and active, oldest first, the newest `limit`. */
  runs(uid: string, limit: number): Promise<RunSummary[]>;
  /** Null: no such run has begun in this thread. */
  run(uid: string, runId: string): Promise<RunSummary | null>;

  /** Reads a thread part by part, after a reading has thrown UnreadableRecord. Null: nothing was ever committed. */
  salvage(uid: string, budgetChars: number): Promise<Salvage | null>;
  /**
   * Copies unreadable parts to a key of their own, and removes them from the thread; parts that the next commit replaces
   * (snapshot, run, state) stay until then. Repeating it changes nothing.
   */
  setAside(uid: string, parts: readonly UnreadablePart[]): Promise<void>;
}

/**
 * `idle`: no run. `running`: a process holds the thread. `awaiting`: a page call is pending, nothing is in memory.
 * `waiting_for_person`, `with_person`: no run, and no model is called.
 */
export type { ThreadState };

/**
 * `active`: without the last run if the thread is idle. To begin the next run it is not needed, and it is as long as its
 * reply. `last-in-parts`: text that is stored in parts is not read; run and messages say so with `kept`.
 */
export type RunsRead = "active" | "last" | "last-in-parts";

/** A thread as its feeds see it, all read at one moment. */
export interface ThreadLook {
  state: ThreadState;
  /** The run that began last; null if none has begun. */
  runId: string | null;
  /** The id of the last commit at that moment. */
  lastOp: string | null;
  /** Only while a person has the thread or is waited for; it names the person. */
  snapshot?: string;
  messageCount: number;
  /** Oldest first; at most LOOK_MESSAGES, so a reader that is far behind looks again. */
  messages: Message[];
  /** The number of history items that are known after this look. */
  to: number;
  /** The thread was deleted. */
  isDeleted?: true;
}

/** How long the registration of a watching process lasts. */
export const WATCH_MS = 120_000;

/** The most that one look reads: items, and characters of their contents; but at least one item. */
export const LOOK_MESSAGES = 100;
export const LOOK_CHARS = 262_144;

/** A thread as load reads it. */
export interface ThreadRecord {
  uid: string;
  slug: string;
  /** Counts the commits; 0 before the first one. */
  rev: number;
  /** The `opId` of the last commit; null before the first one. A failover may use a revision again, never this. */
  lastOp: string | null;
  /** The holder: `PROCESS:RANDOM`; null: none. */
  fence: string | null;
  state: ThreadState;
  /** Snapshot text of machines/thread.ts; null before the first message. */
  snapshot: string | null;
  catalog: Catalog;
  /** Changes with the catalog; null: none was ever set. */
  catalogId: string | null;
  /** The active or last run; null before the first message, or if it was left out (RunsRead). */
  run: RunRecord | null;
  /** The newest messages, oldest first, as many as fit the budget that load was given. */
  tail: Message[];
  /** How many messages the history holds: the next one's id is this plus one. */
  messageCount: number;
  /** Absent: there is none. */
  historySummary?: HistorySummary;
  /** Which items are not in the chosen branch; absent: all are. `tail` has none of them. */
  hidden?: Ranges;
  /** How many messages wait in the queue. */
  waitingCount: number;
}

/** What can be read of a thread. In the record, an unreadable part looks like a missing one. */
export interface Salvage {
  record: ThreadRecord;
  parts: UnreadablePart[];
}

export interface UnreadablePart {
  part:
    | "header"
    | "state"
    | "snapshot"
    | "run"
    | "catalog"
    | "message"
    | "waiting"
    | "summary"
    | "historySummary";
  /** Which one of several: a message's id, a waiting message's run, or a run; else empty. */
  place: string;
  /** The text as it is stored. */
  stored: string;
  error: UnreadableRecord;
}

/** One atomic change of a thread: everything that a transition saves. */
export interface ThreadCommit {
  uid: string;
  slug: string;
  /** Names this change: a repeat changes nothing and gets the answer of the first one. */
  opId: string;
  /** `PROCESS:RANDOM` of the process that commits. */
  fence: string;
  /** True: claim the thread, which nobody (or only `takesFrom`) may hold. False: the fence must hold it already. */
  claims: boolean;
  /** A fence whose process is known to be dead; the claim takes the thread from it. */
  takesFrom: string | null;
  /** The revision on which the decision is based. */
  rev: number;
  /** With `claims`: the last operation on which the decision is based (ThreadRecord.lastOp). If it differs: `changed`. */
  readOp: string | null;
  /** With `claims`: the catalog on which the decision is based (ThreadRecord.catalogId). If it differs: `changed`. Absent: any. */
  readCatalogId?: string | null;
  atMs: number;
  snapshot: string;
  state: ThreadState;
  /** The active or last run; null: the stored one, if any, stays as it is. */
  run: RunRecord | null;
  /** A run other than `run` that this commit ends (superseded); stays in the list of runs. */
  endedRun: RunRecord | null;
  /** Appended to the history, in order. */
  messages: Message[];
  /** A branch begins with it: these items are no longer in the chosen one. Absent: none begins. */
  hides?: Hides & {
    /** The summary of the history covers some of them: it is forgotten. */
    summarized: boolean;
  };
  /** The run id of the waiting message that this commit starts, and removes from the head of the queue; null: none. */
  startsWaiting: string | null;
  /** True: keep holding the thread. False: release it, unless a message waits. */
  holds: boolean;
  /** When the page call or wait for a person expires, for the sweep; null: no deadline. */
  deadlineMs: number | null;
  /** What it changes of who answers. Absent: nothing. */
  answerer?: AnswererChange;
  /** The webhook events of this change (outbox.ts). Absent: none. */
  tells?: Telling[];
  /** A client's id that this commit claims without `orWait`; if it was claimed before: `said-before`. */
  claimsId?: MessageClaim;
  /**
   * With `claims`: if the thread is held, this message is queued instead. Either way its clientMessageId is claimed
   * (domain/threads/message-claim.ts).
   */
  orWait: { message: UserMessage; max: number } | null;
}

export type CommitResult =
  /** `next`: the message at the head of the queue; the fence then still holds the thread, whatever `holds` says.
   * `unreadableNext`: why that message cannot be read; `next` is then null.
   * `catalog`: if a waiting message was started, the thread's present page tools.
   * `watchers`: the processes that watch the thread; absent: none. */
  | {
      type: "committed";
      rev: number;
      next: UserMessage | null;
      unreadableNext?: UnreadableRecord;
      catalog?: Catalog;
      watchers?: string[];
      /** With `tells`: the events to queue now; those that an earlier commit left unqueued come first. */
      unqueued?: ToldRef[];
    }
  /** The thread is held by `fence`; the message of `orWait`, if any, is now in the queue. */
  | { type: "waiting"; fence: string }
  /** The thread is held, and its queue is full. */
  | { type: "full"; fence: string }
  /** Nobody holds it, but it has changed since it was read: load it again. */
  | { type: "changed" }
  /** Another process holds it: stop, and never retry. */
  | { type: "fenced" }
  /** The thread was deleted: nothing will ever be committed to it. */
  | { type: "deleted" }
  | SaidBefore;

/**
 * The message's clientMessageId was claimed before, for this run; or this run is the message's own, which was stored by an
 * earlier try of the same call. Nothing was changed.
 */
export interface SaidBefore {
  type: "said-before";
  runId: string;
  /** False: that message has another text. */
  isSameText: boolean;
}

export interface Rating {
  uid: string;
  /** Names this rating: a repeat completes it, and causes no second webhook event. */
  opId: string;
  messageId: string;
  /** null: withdraws the former rating. */
  feedback: Feedback | null;
  atMs: number;
  /** The webhook events of the rating. */
  tells: Telling[];
}

export type Rated =
  /** `unqueued`: as in CommitResult. */
  | { type: "rated"; before: Feedback | null; unqueued: ToldRef[] }
  | { type: "unchanged" }
  /** There is no such message, or none that may be rated; or the thread was deleted. */
  | { type: "not-found" };

export interface HistoryPage {
  limit: number;
  /** Id of a message: only older ones. An unknown id gives an empty list. */
  before: string | null;
  /** The items of all branches; absent: those of the chosen one. */
  all?: true;
  /**
   * Limits the sum of the contents, but the newest message is always read. Text that is stored in parts is not read: such
   * a message has `kept`. Absent: no limit, and every text is whole.
   */
  budgetChars?: number;
}

/** A finished run in short form, for the command line and the console. */
export interface RunSummary {
  runId: string;
  saidAtMs: number;
  outcome: RunRecord["outcome"];
  path: RunRecord["path"];
  terminal: RunRecord["terminal"];
}

export function summaryFrom({ runId, saidAtMs, outcome, path, terminal }: RunSummary): RunSummary {
  return { runId, saidAtMs, outcome, path, terminal };
}
