import type { Line } from "../../machines/line.ts";
import type { RunOutcome } from "../../machines/run.ts";
import type { Agent } from "../agent.ts";
import type { Clock, Timers } from "../clock.ts";
import type { AnswererChange } from "../domain/threads/answerer-change.ts";
import type { ReadDocument } from "../domain/threads/files.ts";
import type { HandOffRating } from "../domain/threads/desk.ts";
import type { WhileRunning } from "../domain/channels/channel.ts";
import type { HandOff } from "../domain/threads/hand-off.ts";
import type { Feedback, RunMove } from "../domain/threads/message.ts";
import type { WebhookField } from "../domain/channels/webhook.ts";
import type { PlainLog } from "../log.ts";
import type { Deletion, SealedTelling, Store, ToldRef, UnreadableRecord } from "../store.ts";
import type { Tracing } from "../trace.ts";

/** The dependencies of an instance's threads. */
export interface ThreadDependencies {
  store: Store;
  agent: Agent;
  /** Why the channel's record cannot be read: its threads are left alone until it can be. By default: no fault. */
  channelFault?: (slug: string) => UnreadableRecord | null;
  /** A channel's texts and waiting time for a hand-off; by default the built-in ones. */
  handOff?: (slug: string) => HandOff;
  /** What a message does that comes while a run goes on (agent.whileRunning). By default it waits. */
  whileRunning?: (slug: string) => WhileRunning;
  /** The text of a document that came as a file; by default none is read. */
  readDocument?: ReadDocument;
  /** A channel's webhooks; by default none. */
  webhooks?: (slug: string) => readonly WebhookField[];
  /** Passes on the events of a commit that are not queued yet. */
  told?: (refs: readonly ToldRef[]) => void;
  /** The webhook events of a deletion; by default none. */
  tellsDeletion?: (deletion: Deletion) => Promise<SealedTelling[]>;
  clock: Clock;
  timers: Timers;
  /** Ids of runs, commits and fences. */
  newId: () => string;
  /** From 0 to 1, for the jitter of heartbeats; Math.random unless it is given. */
  random?: () => number;
  log: PlainLog;
  limits: ThreadLimits;
  observer: ThreadObserver;
  /** Absent: traces are off. */
  tracing?: Tracing;
  /** True while readers leave too much unread: long replies are then not sent again. By default false. */
  isCrowded?: () => boolean;
}

export interface ThreadLimits {
  /** RUN_TIMEOUT_SECONDS: longest active time of one run. */
  runTimeoutMs: number;
  /** RUN_MAX_TOOL_CALLS */
  runMaxToolCalls: number;
  /** TOOL_RESULT_TIMEOUT_SECONDS */
  toolResultTimeoutMs: number;
  /** RUN_MAX_REPLY_CHARS */
  runMaxReplyChars: number;
  /** THREAD_QUEUE_MAX */
  threadQueueMax: number;
  /** How much history is read for the model, in characters: a little more than AGENT_MAX_INPUT_TOKENS can use. */
  historyBudgetChars: number;
}

/** Metrics. Called after the save; calls must be cheap. */
export interface ThreadObserver {
  moved(moved: {
    slug: string;
    uid: string;
    runId: string;
    rev: number;
    move: RunMove;
    lines: readonly Line[];
    /** Present if a user's message entered the history. */
    said?: { userId: string };
  }): void;
  runEnded(ended: { slug: string; runId: string; outcome: RunOutcome; elapsedMs: number }): void;
  takenOver(taken: { slug: string; uid: string; runId: string }): void;
  /** A run's first text came, so long after the user's message. */
  firstText?(said: { slug: string; waitedMs: number }): void;
  /** A summary of the beginning of a long conversation was made, or tried. */
  summarized?(made: { slug: string; outcome: SummaryOutcome }): void;
  /**
   * Who answers has changed. `waitedMs`: how long a person was waited for, up to this change; null: none was. `tookMs`: of the
   * end of a hand-off, how long it took from its beginning; null: it goes on.
   */
  answererChanged?(
    changed: Pick<AnswererChange, "how" | "by" | "queue"> & {
      slug: string;
      uid: string;
      waitedMs: number | null;
      tookMs: number | null;
    },
  ): void;
  /** A visitor said what they think of a hand-off; `before`: what they said of it until then. */
  handOffRated?(rated: { slug: string; before: HandOffRating | null; rating: HandOffRating }): void;
  /** Somebody rated a reply. `before`: their former rating; `feedback`: null if the rating was withdrawn. */
  rated?(rated: { slug: string; before: Feedback | null; feedback: Feedback | null; atMs: number }): void;
}

/** How a summary ended: `kept`; `capped`: a daily cap is used up; `overtaken`: another one was kept, or the thread was deleted; `failed`. */
export type SummaryOutcome = "kept" | "capped" | "overtaken" | "failed";

export const nobody: ThreadObserver = {
  moved() {},
  runEnded() {},
  takenOver() {},
};
