/**
 * What a visitor's tab does with the run of its conversation: it sends a message or finds a run that is under way,
 * follows the run through its streams, has the page's tools called, and comes back after each cut.
 *
 * The element's script runs it (src/widget/chart/transition.ts). Its state lives in the page; `own` is saved with every
 * change that the next page of the tab needs (`save`), before what could leave the page is done.
 */
import { assign, setup } from "xstate";
import type { OwnRun, TabContext, Told } from "./tab-events.ts";

/** How many attempts in a row may bring no line. */
export const MAX_FAILURES = 4;

/** A tool's call expires after this time (the service's default of TOOL_RESULT_TIMEOUT_SECONDS). */
const STALE_MS = 600_000;

/** Posted in place of a refused result; otherwise the agent would wait until the call expires. */
const UNDELIVERABLE = "The tool ran, but its result could not be delivered";

/**
 * The effects, which the element performs: it gives each the event, and the context after the move. The first ones are
 * the work that a state waits for, and end in an event.
 */
const EFFECTS = [
  /** Loads the history, and takes the message's lock: `lock.won`, `lock.lost`, `message.failed`. */
  "prepare",
  /** Takes the saved run's lock, and loads its thread: `lock.lost`, `thread.loaded`, `thread.lost`, `thread.failed`. */
  "takeOver",
  /** Posts the message: `thread.known`, `message.accepted`, `message.failed`. */
  "post",
  /** Asks for the run as `opening` says, and reads its stream: `stream.opened` and what is in it, `stream.cut`. */
  "open",
  /** `pause.over`, after the wait for this failure. */
  "waitOut",
  /** `pause.over`, after as many seconds as the service asked for. */
  "countDown",
  /** `tool.started`, `tool.returned`, `tool.answered`. */
  "callTool",
  /** `page.settled`; "again" where the tool was started before, on this page or the one before. */
  "settle",
  "settleAgain",
  /** Loads the history for the ended reply: `reply.loaded`. */
  "loadReply",
  /** Ends the run in the service; "late" where its stream is read a moment longer, and reports it: `stop.due`. */
  "cancel",
  "cancelLate",

  /** Saves `own` for the next page, or drops what is saved. A run that is only watched is not saved. */
  "save",
  "dropSaved",
  /** Of a saved run that was found: its message is unsent; it is not saved any more. */
  "keepFound",
  "dropFound",
  /** The message is among the unsent ones; the service has it, and it is not. */
  "keepUnsent",
  "dropUnsent",

  "showMessage",
  /** Adds the reply of a run that is under way. */
  "showReply",
  /** Back to the reply's beginning, or to the last call if its result is answered: the stream tells it from there. */
  "rewind",
  "showLine",
  /** Notes how far the reply is, for `rewind`. */
  "markReply",
  "askForForm",
  /** The reply is not live any more. */
  "endReply",
  "dropReply",
  "showEnd",
  "showLost",
  "showStopped",
  /** The message is shown as not sent, or is back in the composer. */
  "showUndelivered",
  "hideMessage",
  /** The message's thread is gone: it can be sent again in another one. */
  "showForgotten",
  "showFailure",
  /** Other tabs load the history again. */
  "tellTabs",
  /** Ends what this page does for the run. */
  "abort",
  /** The run is over for this tab, and its lock is free. */
  "release",
] as const;

/** The effects as a closed union: an element that forgets one does not compile. */
export type TabEffect = (typeof EFFECTS)[number];

// A cast: fromEntries forgets the names.
const effects = Object.fromEntries(EFFECTS.map((name) => [name, () => {}])) as Record<TabEffect, () => void>;

/** A change of the run that a message of this tab began; nothing, where there is none. */
function changed({ own }: TabContext, change: Partial<OwnRun>): { own: OwnRun | null } {
  return { own: own && { ...own, ...change } };
}

const IDLE = "#tab.resting.idle";
const FAILED = "#tab.resting.failed";
const FOLLOWING = "#tab.active.following";

/** After a failure that ends a run or a load: offline is no failure, and is shown as such. */
const failing = <const Actions>(actions: Actions) =>
  [
    { guard: "isRefused", target: "#tab.resting.blocked", actions },
    { guard: "isFailure", target: FAILED, actions },
    { target: IDLE, actions },
  ] as const;

/** The message was not accepted, and is not sent again without the visitor. The feed may have brought it all the same. */
const undelivered = [
  { guard: "hasBoth", target: IDLE, actions: "showLost" },
  { guard: "hasMessage", target: FAILED, actions: "showLost" },
  { guard: "isReturned", target: IDLE, actions: ["dropSaved", "showUndelivered"] },
  ...failing(["dropSaved", "showUndelivered"]),
] as const;

/** After the run's end. */
const ending = <const Actions>(actions: Actions) =>
  [
    { guard: "mayRetry", target: FAILED, actions },
    { target: IDLE, actions },
  ] as const;

export const tabMachine = setup({
  // Casts: this is how XState takes types; the values are never read.
  types: {
    context: {} as TabContext,
    events: {} as Told,
  },
  guards: {
    // A saved run.
    isOfAnotherThread: ({ event: { own, threadId } }) => ![null, threadId].includes(own.threadId),
    isStale: ({ event }) => event.ageMs > STALE_MS,
    isStaleUnsent: ({ event }) => event.ageMs > STALE_MS && event.own.runId === undefined,
    hasId: ({ event }) => event.own.runId !== undefined,
    isSeenToEnd: ({ context: { named }, event }) => named?.runId === event.runId && named.hasEnded,

    // What the service did not accept, or a stream that broke off.
    isBusy: ({ event }) => event.fault.status === 429,
    /** Where the message may be stored, a 429 is not final: the visitor must not write it again. */
    isBusyRepeat: ({ context, event }) => context.mayBeStored && event.fault.status === 429,
    mayPostAgain: ({ context: { failures }, event: { fault } }) =>
      fault.isUnanswered && !fault.isOriginRefused && failures < MAX_FAILURES,
    /** 409 is not final: the call is no longer pending, and the thread's stream shows what became of the run. */
    mayComeBack: ({ context: { failures }, event: { fault } }) =>
      (fault.status === 0 || fault.status >= 500 || fault.status === 409) &&
      !fault.isOriginRefused &&
      (fault.isInterrupted || failures < MAX_FAILURES),
    /** The result is too large, or malformed. */
    isReplaceable: ({ context: { opening, own }, event }) =>
      opening === "result" && [413, 422].includes(event.fault.status) && own?.body?.result !== UNDELIVERABLE,
    /** A store that failed over may have lost the run and its message; the message is then sent again. */
    isForgotten: ({ context: { opening, runId, own }, event }) =>
      opening === "attach" && runId !== null && own !== null && event.fault.status === 404,
    hasMessage: ({ event }) => event.fault.hasMessage,
    hasReply: ({ event }) => event.fault.hasReply,
    hasBoth: ({ event }) => event.fault.hasMessage && event.fault.hasReply,
    /** Too long, or too early: the text goes back to the composer. */
    isReturned: ({ event }) => [413, 422, 429].includes(event.fault.status),
    /** The service refuses this page, its key or this visitor. */
    isRefused: ({ event }) => event.fault.isOriginRefused || [401, 403].includes(event.fault.status),
    isFailure: ({ event }) => event.fault.status !== 429 && event.fault.isOnline,

    isPosted: ({ context }) => context.opening !== "post",
    isWatched: ({ context }) => context.own === null,
    isReportedByFeed: ({ context }) => context.after === "feed",
    wasStarted: ({ context: { own }, event }) =>
      own?.call?.callId === event.call.callId && own.phase !== "asking",
    isForm: ({ event }) => event.waitsForForm,
    isAnswered: ({ context }) => context.own?.body !== undefined,
    isToBeLoaded: ({ context }) => context.after === "history",
    mayRetry: ({ event }) => event.mayRetry,
    isStreaming: ({ context }) => context.phase === "streaming",
  },
  actions: {
    beginSent: assign(({ event: { message, isRepeat, threadId } }) => ({
      phase: "sending",
      own: { phase: "talking", message, threadId },
      runId: null,
      opening: "post",
      after: isRepeat ? "history" : null,
      mayBeStored: isRepeat,
      failures: 0,
    })),
    beginFound: assign(({ event: { own } }) => ({
      phase: "streaming",
      own,
      runId: own.runId ?? null,
      opening: "attach",
      after: "history",
      failures: 0,
    })),
    beginSeen: assign(({ event: { runId, after } }) => ({
      phase: "streaming",
      own: null,
      runId,
      opening: "attach",
      after,
      failures: 0,
    })),
    noteThread: assign(({ context, event: { threadId } }) => changed(context, { threadId })),
    noteAccepted: assign({ opening: "answer", failures: 0 }),
    noteRun: assign(({ context, event: { runId } }) =>
      runId === null ? {} : { runId, named: { runId, hasEnded: false }, ...changed(context, { runId }) },
    ),
    noteLine: assign({ phase: "streaming", failures: 0 }),
    noteCall: assign(
      ({
        context,
        event: {
          call: { callId, tool },
        },
      }) => ({
        phase: "tool",
        failures: 0,
        ...changed(context, { phase: "asking", call: { callId, tool }, body: undefined }),
      }),
    ),
    noteStart: assign(({ context, event: { page } }) => changed(context, { phase: "executing", from: page })),
    noteForm: assign({ phase: "waiting-user" }),
    noteAnswer: assign(({ context, event: { body } }) => changed(context, { phase: "answered", body })),
    replaceAnswer: assign(({ context }) => {
      const body = context.own?.body;
      return changed(context, { body: body && { ...body, result: UNDELIVERABLE, isError: true } });
    }),
    bringAnswer: assign({ opening: "result", failures: 0 }),
    /**
     * Asked for in a way that cannot return another run. Asking by id counts against no rate limit. A result whose stream
     * was cut is posted again, because it may not have arrived.
     */
    askAgain: assign(({ context: { opening, runId, own }, event: { fault } }) => ({
      opening:
        opening === "result" && !fault.isInterrupted && fault.status !== 409
          ? opening
          : runId === null && own !== null
            ? "message"
            : "attach",
    })),
    sendAgain: assign({ opening: "message" }),
    noteTried: assign({ mayBeStored: true }),
    countFailure: assign(({ context: { failures }, event: { fault } }) => ({
      failures: fault.isInterrupted ? 1 : failures + 1,
    })),
    noteBack: assign(({ context: { failures }, event }) => ({ failures: event.isBack ? 0 : failures })),
    noteEnd: assign(({ context: { named }, event: { end } }) => ({
      named: named && { ...named, hasEnded: end.type !== "none" },
    })),

    ...effects,
  },
}).createMachine({
  id: "tab",
  context: {
    phase: "sending",
    own: null,
    runId: null,
    named: null,
    opening: "post",
    after: null,
    mayBeStored: false,
    failures: 0,
  },
  initial: "resting",
  states: {
    /** Nothing of a run is under way in this tab. */
    resting: {
      initial: "idle",
      on: {
        "user.said": { target: "active", actions: ["beginSent", "save", "showMessage"] },
        "run.found": [
          { guard: "isOfAnotherThread", actions: "dropFound" },
          { guard: "isStaleUnsent", actions: ["keepFound", "dropFound"] },
          { guard: "isStale", actions: "dropFound" },
          { guard: "hasId", target: "#tab.active.resuming", actions: "beginFound" },
          { target: "active", actions: ["beginSent", "save", "showMessage"] },
        ],
        "run.seen": [{ guard: "isSeenToEnd" }, { target: FOLLOWING, actions: ["beginSeen", "showReply"] }],
        "load.failed": failing("showFailure"),
        "history.shown": { target: IDLE },
        "origin.refused": { target: "#tab.resting.blocked" },
        "run.left": { target: IDLE },
      },
      states: {
        idle: {},
        /** The visitor can try again. */
        failed: {
          on: { "connection.changed": { target: "idle" }, "problem.solved": { target: "idle" } },
        },
        /** The service refuses this visitor or this page, but may accept the next message. */
        blocked: {},
      },
    },

    active: {
      initial: "starting",
      exit: "release",
      on: {
        "user.stopped": [
          { guard: "isStreaming", actions: "cancelLate" },
          { target: IDLE, actions: ["dropSaved", "abort", "showStopped", "cancel"] },
        ],
        "stop.due": { target: IDLE, actions: ["dropSaved", "abort", "showStopped"] },
        "run.left": { target: IDLE, actions: ["dropSaved", "abort"] },
        "work.failed": failing(["dropSaved", "endReply", "showFailure"]),
        "load.failed": { actions: "showFailure" },
      },
      states: {
        /** The history is loaded; then the lock of the message is taken: a duplicated tab has the same message. */
        starting: {
          entry: "prepare",
          on: {
            "lock.won": { target: "posting" },
            "lock.lost": { target: IDLE, actions: ["keepUnsent", "dropSaved", "hideMessage"] },
            "message.failed": undelivered,
          },
        },

        posting: {
          entry: "post",
          on: {
            "thread.known": { actions: ["noteThread", "save"] },
            "message.accepted": { target: "following", actions: ["noteAccepted", "dropUnsent"] },
            "message.failed": [
              { guard: "isBusyRepeat", target: "pausing", actions: "countDown" },
              { guard: "mayPostAgain", target: "pausing", actions: ["noteTried", "countFailure", "waitOut"] },
              ...undelivered,
            ],
          },
        },

        /** A saved run: its lock is taken, and its thread is loaded. */
        resuming: {
          entry: "takeOver",
          on: {
            "lock.lost": { target: IDLE, actions: "dropSaved" },
            "thread.loaded": { target: "following", actions: "showReply" },
            "thread.lost": { target: IDLE, actions: ["dropSaved", "showForgotten"] },
            "thread.failed": failing("showFailure"),
            "user.stopped": {},
          },
        },

        /** A stream of the run is opened and read. Each call of a tool ends one, and its result opens the next. */
        following: {
          entry: "open",
          on: {
            "stream.opened": { actions: ["noteRun", "save", "rewind"] },
            "reply.grew": { actions: ["noteLine", "showLine"] },
            "tool.called": [
              { guard: "isWatched", target: IDLE, actions: "endReply" },
              { guard: "wasStarted", target: "answered", actions: ["markReply", "settleAgain"] },
              { target: "calling", actions: ["markReply", "noteCall", "save", "callTool"] },
            ],
            "run.ended": [
              {
                guard: "isToBeLoaded",
                target: "ending",
                actions: ["noteEnd", "dropSaved", "endReply", "loadReply"],
              },
              ...ending(["noteEnd", "dropSaved", "endReply", "showEnd", "tellTabs"]),
            ],
            "stream.cut": [
              { guard: "isBusy", target: "pausing", actions: "countDown" },
              { guard: "isReplaceable", target: "following", reenter: true, actions: "replaceAnswer" },
              { guard: "isForgotten", target: "following", reenter: true, actions: "sendAgain" },
              { guard: "mayComeBack", target: "pausing", actions: ["countFailure", "askAgain", "waitOut"] },
              { guard: "isReportedByFeed", target: IDLE, actions: "dropReply" },
              { guard: "hasReply", target: IDLE, actions: ["endReply", "showLost", "tellTabs"] },
              { target: FAILED, actions: ["endReply", "showLost", "tellTabs"] },
            ],
          },
        },

        /** Cut off, or too early: the tab waits, and asks again. */
        pausing: {
          on: {
            "pause.over": [
              { guard: "isPosted", target: "following", actions: "noteBack" },
              { target: "posting", actions: "noteBack" },
            ],
          },
        },

        /** A tool of the page is called. */
        calling: {
          initial: "asking",
          on: {
            "tool.returned": { actions: ["noteAnswer", "save"] },
            "tool.answered": { target: "answered", actions: ["noteAnswer", "save", "settle"] },
          },
          states: {
            /** The visitor may have to allow it. */
            asking: {
              on: {
                "tool.started": [
                  {
                    guard: "isForm",
                    target: "filling",
                    actions: ["noteStart", "noteForm", "save", "askForForm"],
                  },
                  { target: "executing", actions: ["noteStart", "save"] },
                ],
              },
            },
            executing: {},
            /** The tool is a form, and waits for the visitor. */
            filling: {},
          },
        },

        /** A call has its result, or its tool was started on the page before. What the page offers may have changed. */
        answered: {
          on: {
            "page.settled": [
              { guard: "isAnswered", target: "following", actions: "bringAnswer" },
              { target: "following", actions: ["noteAnswer", "save", "bringAnswer"] },
            ],
          },
        },

        /** The run is over, and the history is loaded for its reply. */
        ending: {
          on: {
            "reply.loaded": ending(["showEnd", "tellTabs"]),
            "stop.due": {},
          },
        },
      },
    },
  },
});

/** The tab has a run under way. `path`: of the chart's innermost state. */
export function isActive(path: string): boolean {
  return path.startsWith("active");
}
