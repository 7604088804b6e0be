import type { Catalog, Feedback, Message, MessageClaim, RunRecord, UserMessage } from "../domain/message.ts";
import type { Telling } from "../domain/webhook.ts";
import type { ToldRef } from "./outbox.ts";
import type { UnreadableRecord } from "./unreadable.ts";

/** Everything inside a thread, by its uid; no user's name is among it. */
export interface ThreadStore {
  /**
   * Null: nothing was ever committed, or it was deleted. `budgetChars` bounds the sum of the tail's contents; at least one message.
   * `runs`: by default the last run is read too, also when it is over.
   */
  load(uid: string, budgetChars: number, runs?: RunsRead): Promise<ThreadRecord | null>;
  commit(commit: ThreadCommit): Promise<CommitResult>;
  /**
   * Keeps a part of a run's text (domain/kept-text.ts). Parts count up from 0; the same number again replaces it.
   * Runs and messages are committed without what their `kept` says is in parts; load and history give them whole.
   * False: the fence does not hold the thread.
   */
  keepPart(part: { uid: string; fence: string; runId: string; nth: number; text: string }): Promise<boolean>;
  /** The text of a run's first so many parts; without those before `from`. */
  keptText(uid: string, runId: string, parts: number, from?: number): Promise<string>;
  /**
   * Keeps the images of a message, data: URLs, under its run. Before the message is stored, and so by no fence: whoever
   * could not store the message drops them. The same run again replaces them. False: the thread was deleted.
   */
  keepImages(kept: {
    uid: string;
    runId: string;
    images: readonly string[];
    /** Whose they are, for who encrypts them: the thread may not have begun. */
    slug?: string;
  }): Promise<boolean>;
  /** Empty where none are kept. */
  keptImages(uid: string, runId: string): Promise<string[]>;
  dropImages(uid: string, runId: string): Promise<void>;
  /** A message of somebody whose thread is held: `free` where nobody holds it any more (claim it then). */
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
  /** The runs of the messages that wait, in order of arrival. */
  waitingRuns(uid: string): Promise<string[]>;
  /** Replaces the catalog; an empty one clears it. The revision is not touched. False: the thread was deleted. */
  setCatalog(uid: string, slug: string, catalog: Catalog): Promise<boolean>;
  /**
   * Rates a reply: by no fence, and beside whatever goes on in the thread, whose revision stays. The same again (isSameFeedback)
   * changes nothing and tells nobody.
   */
  rate(rating: Rating): Promise<Rated>;
  /** Oldest first. */
  history(uid: string, page: HistoryPage): Promise<Message[]>;
  /** The thread's state, and what is in its history behind its first `from` items; null: nothing of that. */
  look(uid: string, from: number | null): Promise<ThreadLook>;
  /** The `opId` of the last commit; null before the first: while it stays, a look finds nothing new. May be late. */
  lastOp(uid: string): Promise<string | null>;
  /** For a while (WATCH_MS), whoever commits to the thread is told that this process watches it. */
  watch(uid: string): Promise<void>;
  /** The processes that watch the thread, as a commit would be told. */
  watchers(uid: string): Promise<string[]>;
  /** Null: nobody has claimed this id in the thread. */
  claimed(uid: string, clientMessageId: string): Promise<MessageClaim | null>;
  /** Finished and active, oldest first, the newest `limit`. */
  runs(uid: string, limit: number): Promise<RunSummary[]>;
  /** Null: no such run has begun in this thread. */
  run(uid: string, runId: string): Promise<RunSummary | null>;

  /** Reads a thread part by part, where a reading has thrown UnreadableRecord. Null: nothing was ever committed. */
  salvage(uid: string, budgetChars: number): Promise<Salvage | null>;
  /**
   * Keeps parts that cannot be read under a key of their own, and takes them out of the thread; what the next commit
   * replaces (snapshot, run, state) stays until then. The same parts again change nothing.
   */
  setAside(uid: string, parts: readonly UnreadablePart[]): Promise<void>;
}

/**
 * `idle`: no run. `running`: a process holds the thread. `awaiting`: a page call is pending, nothing is in memory.
 * `waiting_for_person`, `with_person`: no run, and no model is asked.
 */
export type ThreadState = "idle" | "running" | "awaiting" | "waiting_for_person" | "with_person";

/**
 * `active`: the run of an idle thread is left out. Whoever begins the next one does not need it, and it is as long as its
 * reply. `last-in-parts`: texts that are kept in parts stay there; run and messages say so with `kept`.
 */
export type RunsRead = "active" | "last" | "last-in-parts";

/** A thread as its feeds see it: all of it as it was at one moment. */
export interface ThreadLook {
  state: ThreadState;
  /** The run that began last; null where none has. */
  runId: string | null;
  /** The last commit that it has seen. */
  lastOp: string | null;
  /** Only while a person has the thread or is waited for: it tells who. */
  snapshot?: string;
  messageCount: number;
  /** Oldest first: as many as are read at once, so that who is far behind looks again. */
  messages: Message[];
  /** How many items of the history are known after this look. */
  to: number;
  /** Nothing more will come. */
  isDeleted?: true;
}

/** How long a process is told of commits after it has asked for it. */
export const WATCH_MS = 120_000;

/** What a look reads at once: items, and characters of their contents; at least one item. */
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
  /** Who holds the thread: `PROCESS:RANDOM`; null while nobody does. */
  fence: string | null;
  state: ThreadState;
  /** Snapshot text of machines/thread.ts; null before the first message. */
  snapshot: string | null;
  catalog: Catalog;
  /** The active or last run; null before the first message, and where it was left out. */
  run: RunRecord | null;
  /** The newest messages, oldest first, as many as fit the budget that load was given. */
  tail: Message[];
  /** How many messages the history holds: the next one's id is this plus one. */
  messageCount: number;
  /** How many messages wait in the queue. */
  waitingCount: number;
}

/** What can be read of a thread: of a part that cannot be, the record says what it says of a thread that has none. */
export interface Salvage {
  record: ThreadRecord;
  parts: UnreadablePart[];
  /** Each as it is stored: whether its content opens is for who has the keys to say. */
  sealed: SealedPart[];
}

/** A part that is read, and has content that is encrypted. */
export type SealedPart = Pick<UnreadablePart, "place" | "stored"> &
  (
    | { part: "message"; record: Message }
    | { part: "waiting"; record: UserMessage }
    | { part: "run"; record: RunRecord }
  );

export interface UnreadablePart {
  part: "header" | "state" | "snapshot" | "run" | "catalog" | "message" | "waiting" | "summary";
  /** Which of several: a message's id, a waiting message's run, a run; else empty. */
  place: string;
  /** The text as it is stored. */
  stored: string;
  error: UnreadableRecord;
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
  /** With `claims`: the last operation that the decision was made on (ThreadRecord.lastOp). Another one: `changed`. */
  readOp: string | null;
  atMs: number;
  snapshot: string;
  state: ThreadState;
  /** The active or last run; null: the one that is stored, if any, stays as it is. */
  run: RunRecord | null;
  /** Another run than `run` that this commit ends (superseded); kept in the list of runs. */
  endedRun: RunRecord | null;
  /** Appended to the history, in order. */
  messages: Message[];
  /** The waiting message that this commit starts: removed from the head of the queue; null where none. */
  startsWaiting: string | null;
  /** True: go on holding the thread. False: release it, unless a message waits. */
  holds: boolean;
  /** When what the thread waits for expires, for the sweep; null: it does not, or waits for nothing. */
  deadlineMs: number | null;
  /** What the channel's webhooks are told of it (outbox.ts). Absent: nothing, and nothing of it is written. */
  tells?: Telling[];
  /** An id that this commit claims without `orWait`; where it was claimed before: `said-before`. */
  claimsId?: MessageClaim;
  /**
   * With `claims`: where the thread is held, this message waits in its queue instead. Either way its clientMessageId is
   * claimed (domain/message-claim.ts).
   */
  orWait: { message: UserMessage; max: number } | null;
}

export type CommitResult =
  /** `next`: the message that waits at the head of the queue; the fence then still holds the thread, whatever `holds` said.
   * `unreadableNext`: why that message cannot be read; `next` is null then.
   * `catalog`: where a waiting message was started, the thread's page tools as they are now.
   * `watchers`: processes that watch the thread; left out where none does. */
  | {
      type: "committed";
      rev: number;
      next: UserMessage | null;
      unreadableNext?: UnreadableRecord;
      catalog?: Catalog;
      watchers?: string[];
      /** With `tells`: what is to be queued now, events of the thread that an earlier commit left unqueued first. */
      unqueued?: ToldRef[];
    }
  /** The thread is held by `fence`; with `orWait` the message waits now. */
  | { type: "waiting"; fence: string }
  /** The thread is held, and its queue is full. */
  | { type: "full"; fence: string }
  /** Nobody holds it, but it is not as it was read: load again. */
  | { type: "changed" }
  /** Another one holds it: stop, change nothing, never retry. */
  | { type: "fenced" }
  /** The thread was deleted: nothing will ever be committed to it. */
  | { type: "deleted" }
  | SaidBefore;

/** The message's clientMessageId was claimed before, for this run: nothing was changed. */
export interface SaidBefore {
  type: "said-before";
  runId: string;
  /** False: it was another text. */
  isSameText: boolean;
}

export interface Rating {
  uid: string;
  /** Names this attempt: a repeat completes it, and tells nobody twice. */
  opId: string;
  messageId: string;
  /** null: takes the former one back. */
  feedback: Feedback | null;
  atMs: number;
  /** What the channel's webhooks are told of it. */
  tells: Telling[];
}

export type Rated =
  /** `unqueued`: as of a commit. */
  | { type: "rated"; before: Feedback | null; unqueued: ToldRef[] }
  | { type: "unchanged" }
  /** There is no such message, or none that may be rated; or the thread was deleted. */
  | { type: "not-found" };

export interface HistoryPage {
  limit: number;
  /** Id of a message: only older ones. An unknown id gives an empty list. */
  before: string | null;
  /**
   * Bounds the sum of the contents; at least one message, the newest. Texts that are kept in parts stay there: such a
   * message comes with `kept`. Absent: no bound, and every text whole.
   */
  budgetChars?: number;
}

/** A finished run in short form, for the command line and the inspector. */
export interface RunSummary {
  runId: string;
  saidAtMs: number;
  outcome: RunRecord["outcome"];
  path: RunRecord["path"];
  terminal: RunRecord["terminal"];
  /** As the run's. */
  sealedTerminal?: string;
}

export function summaryFrom({
  runId,
  saidAtMs,
  outcome,
  path,
  terminal,
  sealedTerminal,
}: RunSummary): RunSummary {
  const summary = { runId, saidAtMs, outcome, path, terminal };
  return sealedTerminal === undefined ? summary : { ...summary, sealedTerminal };
}
