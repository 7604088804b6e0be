import type { DoneLine, ErrorLine, ProgressLine, ToolCallLine } from "./line.ts";

/** What the tab's chart (tab.ts) knows and is told: only what decides the next move, or is carried to the next page. */
export interface TabContext {
  /** What the visitor is shown while a run is active. A pause keeps what was shown before it. */
  phase: "sending" | "streaming" | "tool" | "waiting-user";
  /** The active or last run as the next page would continue it; null: this tab only watched it, or there was none. */
  own: OwnRun | null;
  /** Its id; null until it is known. */
  runId: string | null;
  /** The active or last run whose id is known, and whether its end was seen. */
  named: { runId: string; hasEnded: boolean } | null;
  opening: Opening;
  after: RepliedIn;
  /** The service may have stored the message by now. */
  mayBeStored: boolean;
  /** Attempts in a row that brought no line. */
  failures: number;
}

/** A run that a message of this tab began. */
export interface OwnRun {
  /**
   *   talking    the message is being sent, or the service is at work
   *   asking     a tool is called; it was not started yet
   *   executing  the tool was started; its result is not known
   *   answered   the tool's result is known, and posted or about to be
   */
  phase: "talking" | "asking" | "executing" | "answered";
  message: SaidMessage;
  /** null: the message is the first one, and there is no thread yet. */
  threadId: string | null;
  /** Absent until the service has answered the message. */
  runId?: string;
  /** The call that came last. */
  call?: { callId: string; tool: string };
  /** The page on which the tool was started. */
  from?: string;
  /** Set while answered. */
  body?: PageAnswer | undefined;
}

/** A visitor's message. The chart carries the rest of it unread. */
export interface SaidMessage {
  clientMessageId: string;
}

/** A tool's result, as it is posted. */
export interface PageAnswer {
  callId: string;
  tool: string;
  result: unknown;
  isError: boolean;
}

/**
 * How the run is asked for next.
 *
 *   post     the message is sent; its thread may have to be created
 *   answer   the answer to the message is read
 *   message  the message is sent once more, in its thread
 *   attach   the run is asked for by its id; without one, the thread's active or last run
 *   result   the tool's result is posted
 */
export type Opening = "post" | "answer" | "message" | "attach" | "result";

/**
 * Who has the whole reply by the end of the run: the history, which is loaded again; the feed; null: this tab, which saw
 * it from its beginning.
 */
export type RepliedIn = "history" | "feed" | null;

/** Why an attempt failed, and what the tab knows that decides what to do about it. */
export interface Fault {
  /** Of the service's refusal; 0: no answer, or any other error. */
  status: number;
  /** How long the service asked to wait; 0: it did not. */
  waitSeconds: number;
  /** What was asked may have been done: no connection, or the service failed. */
  isUnanswered: boolean;
  /** The service moved the run, and said so. */
  isInterrupted: boolean;
  /** The channel does not allow this page. */
  isOriginRefused: boolean;
  isOnline: boolean;
  /** The history has the message, which the feed has brought. */
  hasMessage: boolean;
  /** The history has the reply. */
  hasReply: boolean;
  /** The error itself, which is reported; no guard reads it. */
  cause: unknown;
}

/** How a run ended. none: the thread has had no run. */
export type RunEnd = DoneLine | ErrorLine | { type: "none" };

export type TabEvent =
  /** The visitor or the page sends a message. isRepeat: it was sent before, and may be stored. */
  | { type: "user.said"; message: SaidMessage; isRepeat: boolean; threadId: string | null }
  /** The tab has a saved run: of the page before, or one that it lost. `threadId`: the tab's present thread. */
  | {
      type: "run.found";
      own: OwnRun;
      message: SaidMessage;
      isRepeat: true;
      threadId: string | null;
      ageMs: number;
    }
  /** A run is under way that another tab or device began. null: the thread's active or last run. */
  | { type: "run.seen"; runId: string | null; after: RepliedIn }
  /** This tab alone has the message's run, or another tab has it. */
  | { type: "lock.won" }
  | { type: "lock.lost" }
  /** The thread in which the message is about to be posted: it may have been created for it. */
  | { type: "thread.known"; threadId: string }
  /** The saved run's thread: its history is shown; the service does not know it any more; it could not be loaded. */
  | { type: "thread.loaded" }
  | { type: "thread.lost" }
  | { type: "thread.failed"; fault: Fault }
  | { type: "message.accepted" }
  | { type: "message.failed"; fault: Fault }
  | { type: "stream.opened"; runId: string | null }
  | { type: "stream.cut"; fault: Fault }
  | { type: "reply.grew"; line: ProgressLine }
  | { type: "tool.called"; call: ToolCallLine }
  | { type: "tool.started"; page: string; waitsForForm: boolean }
  /** A navigation may still follow. Not told of an empty result: the next page can say more of it. */
  | { type: "tool.returned"; body: PageAnswer }
  /** The tab is still on its page. */
  | { type: "tool.answered"; body: PageAnswer }
  /** The page's tools are known anew. `body`: the result of a tool that was started, and opened this page. */
  | { type: "page.settled"; body: PageAnswer }
  /** mayRetry: the visitor may try again. */
  | { type: "run.ended"; end: RunEnd; mayRetry: boolean }
  | { type: "reply.loaded"; end: RunEnd; mayRetry: boolean }
  /** isBack: the pause ended because the browser is online again. */
  | { type: "pause.over"; isBack: boolean }
  | { type: "user.stopped" }
  /** The stream has had its time to report the cancel. */
  | { type: "stop.due" }
  /** The tab goes to another thread, or forgets the visitor. */
  | { type: "run.left" }
  /** What a state waited for failed in a way that nobody foresaw. */
  | { type: "work.failed"; fault: Fault }
  /** Of the history, beside any run; it is shown; the service refuses this page. */
  | { type: "load.failed"; fault: Fault }
  | { type: "history.shown" }
  | { type: "origin.refused" }
  | { type: "connection.changed" }
  /** What could be tried again has happened meanwhile. */
  | { type: "problem.solved" };

/**
 * What an event tells, whichever it is: guards and changes of the context are written for the events of their branches,
 * and read no field that those have not.
 */
export type Told = TabEvent & {
  message: SaidMessage;
  isRepeat: boolean;
  threadId: string | null;
  own: OwnRun;
  ageMs: number;
  runId: string | null;
  after: RepliedIn;
  fault: Fault;
  line: ProgressLine;
  call: ToolCallLine;
  page: string;
  waitsForForm: boolean;
  body: PageAnswer;
  end: RunEnd;
  mayRetry: boolean;
  isBack: boolean;
};
