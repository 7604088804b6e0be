import { assign, emit, enqueueActions, setup } from "xstate";
import { hintFrom } from "./line.ts";
import type { DoneLine, ErrorCode, Line, StepPhase } from "./line.ts";
import {
  addUsage,
  approveCall,
  beginCalls,
  beginRun,
  callsUnderWay,
  currentCall,
  dropCall,
  isMade,
  MAX_ATTEMPTS,
  MAX_MISSES,
  stepLine,
} from "./run.ts";
import { shownName, takenBy, waitAgain, waitFor, writtenTo } from "./person.ts";
import type { HandedBack, Person } from "./person.ts";
import type { EffectOf } from "./effect.ts";
import type {
  Call,
  NotedResult,
  RefusedCall,
  RunContext,
  RunLimits,
  RunOutcome,
  Shown,
  Usage,
} from "./run.ts";

/**
 * A thread: one conversation, and the run that answers its latest message.
 *
 * A run is `thinking` (one model call, a turn) until the turn ends. A turn that called tools leads through
 * `choosing`, which does the calls one by one in the model's order, but for calls that follow each other and only read:
 * these are made side by side. A server-side tool is performed by the host (`usingServerTool`), a page tool ends the stream with a `tool_call` line and leaves the thread at rest
 * (`awaitingPageTool`) until the browser answers. When all calls have results the next turn begins; a turn without
 * calls ends the run. So the whole tool loop is in the chart: it appears in the picture, and each of its steps is saved.
 *
 * A person may be asked for, or take the thread over: the active run then ends with the text it has so far. Until the
 * person gives the thread back, messages are stored and no model is called (`waiting_for_person`, `with_person`).
 * `epoch` counts these changes of who answers; an operator's request names the epoch that the operator saw.
 *
 * A transition yields two kinds of output, both as data. Emitted events are the lines of the stream. Actions without
 * code are effects, which the host performs: `keep…` and `note…` as part of the save that the transition asks for,
 * `startTurn` and `callTools` after it. A chart never waits: the work that a state waits for is its entry action, and a
 * process that takes a run over sends `run.taken`, which yields that effect again.
 *
 * A transition that only emits leaves the snapshot unchanged and needs no save; this is why reply text is not in the
 * context. Time and ids arrive inside events; so does the usage of a turn: reported by the model, or, with an event that ends
 * the run before its turn has ended, what the turn has cost so far.
 */
export const THREAD_CHART_VERSION = 4;

export interface ThreadContext {
  /** Version of this chart that wrote the snapshot. */
  version: number;
  run: RunContext | null;
  /** Tokens of the whole thread; null until a model call has reported its usage. */
  usage: Usage | null;
  /** Counts the changes of who answers: ask, cancel, take, move to a queue, return, close, and the expiry of a wait or of an answer. */
  epoch: number;
  /** When `epoch` last changed; null while it is 0. */
  answererSinceMs: number | null;
  /** The person whom the thread waits for, or who has it. */
  person: Person | null;
  /** Set when a person has given the thread back and no run knows of it yet. */
  handedBack: HandedBack | null;
}

export type ThreadEvent =
  /** `answerMs`, here and with `person.took`: how long a person who has the thread may leave the visitor without an answer. */
  | { type: "user.said"; runId: string; atMs: number; limits: RunLimits; answerMs?: number | undefined }
  | { type: "agent.wrote"; text: string }
  | { type: "agent.called"; calls: (Call | RefusedCall)[]; usage: Usage | null; atMs: number }
  | { type: "agent.finished"; usage: Usage | null; finishReason?: string | null; atMs: number }
  | { type: "agent.gaveUp"; reason: string; usage: Usage | null; atMs: number }
  | ({ type: "tool.returned"; callId: string; text: string; isError: boolean; atMs: number } & Shown)
  /** A call waits for the visitor, who is shown this meanwhile. */
  | { type: "tool.asked"; callId: string; shown: string }
  /** The call that waits for it may be made, or may not. */
  | { type: "call.decided"; callId: string; approved: boolean; atMs: number }
  | { type: "approval.expired"; atMs: number }
  | { type: "page.answered"; callId: string; tool: string; text: string; isError: boolean; atMs: number }
  | { type: "call.expired"; atMs: number }
  | { type: "run.failed"; runId: string; message: string; code: ErrorCode | null; usage?: Usage | null }
  /** `by`: a later message ends it, and is answered in its place; absent: somebody stops it. */
  | { type: "run.cancelled"; runId: string; by?: "message" | undefined; usage?: Usage | null }
  /** A message waits, and its model is to know of it before its next turn: the run ends where that turn would begin. */
  | { type: "run.steered"; runId: string }
  | { type: "run.taken"; atMs: number }
  | {
      type: "agent.handedOff";
      reason: string | null;
      summary: string | null;
      queue?: string | undefined;
      message: string;
      waitMs: number;
      usage: Usage | null;
      atMs: number;
    }
  | {
      type: "person.asked";
      by: "visitor" | "transport";
      reason: string | null;
      queue?: string | undefined;
      waitMs: number;
      usage?: Usage | null;
      atMs: number;
    }
  /** A message is to be answered again, in place of the reply that it has. `isGone`: it is in another branch by now. */
  | { type: "reply.again"; runId: string; atMs: number; limits: RunLimits; isGone?: true }
  /** The service has its model speak: a run that answers nobody's message. */
  | { type: "service.instructed"; runId: string; atMs: number; limits: RunLimits }
  /** The service speaks of its own accord: nobody has asked. */
  | { type: "service.said"; text: string }
  | { type: "person.unasked"; atMs: number }
  | { type: "wait.expired"; unavailable: string; atMs: number }
  | {
      type: "person.took";
      name: string;
      shownAs?: string | undefined;
      takeId: string;
      epoch: number;
      answerMs?: number | undefined;
      usage?: Usage | null;
      atMs: number;
    }
  | { type: "person.queued"; queue: string; epoch: number; waitMs: number; atMs: number }
  | { type: "person.said"; name: string; epoch: number }
  | { type: "answer.expired"; unanswered: string; waitMs: number; atMs: number }
  | { type: "person.returned"; name: string; epoch: number; note: string | null; atMs: number }
  | { type: "person.closed"; name: string; epoch: number; atMs: number };

const OUTCOME_UNKNOWN =
  "The outcome of this call is unknown: the service stopped while the tool was running. Do not assume that it failed or succeeded.";

const NOT_APPROVED = "This call was not made: it was not approved.";
const NOBODY_APPROVED = "This call was not made: nobody approved it in time.";

function runOf(context: ThreadContext): RunContext {
  if (!context.run) throw new Error("The thread has no run");
  return context.run;
}

function callOf(context: ThreadContext): Call {
  return currentCall(runOf(context));
}

/** The call under way that a tool has answered, or asks the visitor for. */
function answered(context: ThreadContext, event: ThreadEvent): Call | undefined {
  if (event.type !== "tool.returned" && event.type !== "tool.asked") return undefined;
  return callsUnderWay(runOf(context)).find(({ callId }) => callId === event.callId);
}

/** A step of each call under way. */
function sayEachStep(phase: StepPhase) {
  return enqueueActions<ThreadContext, ThreadEvent, undefined, ThreadEvent, never, never, never, never, Line>(
    ({ context, enqueue }) => {
      const run = runOf(context);
      for (const call of callsUnderWay(run)) enqueue.emit(stepLine(run, call, phase));
    },
  );
}

/** The answer of a tool, for the run's transcript. */
function resultOf({ event: { callId, text, isError } }: { event: NotedResult }): { results: NotedResult[] } {
  return { results: [{ callId, text, isError }] };
}

function doneLine(context: ThreadContext, event: ThreadEvent): DoneLine {
  const run = runOf(context);
  const line: DoneLine = {
    type: "done",
    elapsedMs: Math.max(0, ("atMs" in event ? event.atMs : run.saidAtMs) - run.saidAtMs),
  };
  if (run.usage) Object.assign(line, { inputTokens: run.usage.input, outputTokens: run.usage.output });
  if (context.usage) {
    Object.assign(line, {
      totalInputTokens: context.usage.input,
      totalOutputTokens: context.usage.output,
    });
  }
  if ("finishReason" in event && event.finishReason) line.finishReason = event.finishReason;
  return line;
}

/**
 * The effects: actions that have no code here, because the host performs them. Part of the save:
 * - `keepMessage`: add the user's message to the history.
 * - `keepAgain`: begin a branch in the place of the reply; there is no new message.
 * - `keepNothing`: begin a run that ends at once: there is no new message, and no model answers.
 * - `keepInstruction`: note what the run is to say, for its model alone.
 * - `keepReply`: add the run's text to the history. `isGoneOnWith`: the next run answers its message too, with all that its tools found.
 * - `noteResults`: add tool results to the run's transcript, for the model.
 * - `leaveToPerson`: end the run as done; add its text to the history, if it has any.
 * - `keepMessageForPerson`: add the user's message to the history; no model answers it.
 * - `keepPersonMessage`: add a person's message to the history.
 * - `keepNotice`: add a text of the service itself to the history.
 * - `noteHandedBack`: if a person gave the thread back, store this with the next message, so that its model is told.
 *
 * `startTurn`, `callTools` and `awaitApproval` are performed after the save.
 */
const effects = {
  keepMessage: () => {},
  keepAgain: () => {},
  keepNothing: () => {},
  keepInstruction: () => {},
  keepReply: (_: unknown, _params: { outcome: RunOutcome; isGoneOnWith?: true }) => {},
  noteResults: (_: unknown, _params: { results: NotedResult[] }) => {},
  leaveToPerson: () => {},
  keepMessageForPerson: () => {},
  keepPersonMessage: (_: unknown, _params: { name: string }) => {},
  keepNotice: (_: unknown, _params: { text: string }) => {},
  noteHandedBack: (_: unknown, _params: { handedBack: HandedBack | null }) => {},
  startTurn: () => {},
  callTools: (_: unknown, _params: { calls: Call[] }) => {},
  awaitApproval: (_: unknown, _params: { deadlineMs: number }) => {},
};

/** The effects as a closed union: a host that forgets one does not compile. */
export type ThreadEffect = EffectOf<typeof effects>;

type Stopped = { event: ThreadEvent };
const isForMessage = ({ event }: Stopped) => event.type === "run.cancelled" && event.by === "message";
const stopError = (stopped: Stopped) =>
  isForMessage(stopped)
    ? ({ message: "A later message ended the run", code: "superseded" } as const)
    : ({ message: "The run was cancelled", code: "cancelled" } as const);
const stopOutcome = (stopped: Stopped) =>
  ({ outcome: isForMessage(stopped) ? "superseded" : "cancelled" }) as const;

type EventOf<Type extends ThreadEvent["type"]> = { event: Extract<ThreadEvent, { type: Type }> };

/** What ends a run while a call of it is under way, or waits. */
const endsWithCalls = {
  "run.cancelled": {
    guard: "ofThisRun",
    target: "#thread.idle",
    actions: [
      "sayStepsFailed",
      { type: "sayError", params: stopError },
      { type: "keepReply", params: stopOutcome },
      "endRun",
    ],
  },
  "person.asked": {
    target: "#thread.waiting_for_person",
    actions: ["sayStepsFailed", "sayHandled", "leaveToPerson", "endRun", "countChange", "waitForPerson"],
  },
  "person.took": {
    guard: "isPresentEpoch",
    target: "#thread.with_person",
    actions: ["sayStepsFailed", "sayHandled", "leaveToPerson", "countChange", "giveToPerson", "endRun"],
  },
} as const;

const failsWithCalls = {
  guard: "ofThisRun",
  target: "#thread.idle",
  actions: [
    "sayStepsFailed",
    {
      type: "sayError",
      params: ({ event: { message, code } }: EventOf<"run.failed">) => ({ message, code }),
    },
    { type: "keepReply", params: { outcome: "failed" } },
    "endRun",
  ],
} as const;

/** The call that waited is not made, and its model is told why. */
const notMade = (text: string) =>
  [
    "sayStepsFailed",
    {
      type: "noteResults",
      params: ({ context }: { context: ThreadContext }) => ({
        results: [{ callId: callOf(context).callId, text, isError: true }],
      }),
    },
    "dropAnsweredCall",
  ] as const;

/** Another branch was chosen while it waited. */
const goneBeforeItBegan = [
  "beginRun",
  "keepNothing",
  {
    type: "sayError",
    params: { message: "This message is in another branch of the conversation", code: "superseded" },
  },
  { type: "keepReply", params: { outcome: "superseded" } },
  "endRun",
] as const;

/** Where a person answers, nothing is answered again: what asks for it has waited while the person came. */
const leftToPerson = <Target extends string>(target: Target) =>
  ({
    target,
    reenter: true,
    actions: ["beginRun", "keepNothing", "sayHandled", "leaveToPerson", "endRun"],
  }) as const;

/** At rest, in whatever state, the service may speak of its own accord: nothing changes but the history. */
const serviceSaid = <Target extends string>(target: Target) =>
  ({
    target,
    reenter: true,
    actions: {
      type: "keepNotice",
      params: ({ event }: { event: Extract<ThreadEvent, { type: "service.said" }> }) => ({
        text: event.text,
      }),
    },
  }) as const;

export const threadMachine = setup({
  // Casts: this is how XState takes types; the values are never read.
  types: {
    context: {} as ThreadContext,
    events: {} as ThreadEvent,
    emitted: {} as Line,
  },
  guards: {
    /** An event that ends a run names it: another run may have begun by the time the event arrives. */
    ofThisRun: ({ context, event }) => "runId" in event && event.runId === runOf(context).id,
    attemptsLeft: ({ context }) => runOf(context).attempt < MAX_ATTEMPTS,
    mayRepeatCalls: ({ context }) =>
      callsUnderWay(runOf(context)).every(({ repeatable }) => repeatable) &&
      runOf(context).attempt < MAX_ATTEMPTS,
    /** A repeatable call has used up its attempts. The run ends: going on without a result would be one more try. */
    triedTooOften: ({ context }) => callOf(context).repeatable && runOf(context).attempt >= MAX_ATTEMPTS,
    missedTooOften: ({ context }) => runOf(context).misses > MAX_MISSES,
    allCallsAnswered: ({ context }) => runOf(context).calls.length === 0,
    overToolLimit: ({ context }) => runOf(context).toolCalls >= runOf(context).limits.toolCalls,
    isGone: ({ event }) => event.type === "reply.again" && event.isGone === true,
    nextNeedsApproval: ({ context }) => callOf(context).confirm !== undefined,
    steeredAndAllCallsAnswered: ({ context }) =>
      runOf(context).steered === true && runOf(context).calls.length === 0,
    approvesThis: ({ context, event }) =>
      event.type === "call.decided" && event.approved && event.callId === callOf(context).callId,
    declinesThis: ({ context, event }) =>
      event.type === "call.decided" && !event.approved && event.callId === callOf(context).callId,
    nextIsPageTool: ({ context }) => callOf(context).kind === "page",
    answersCallUnderWay: ({ context, event }) => answered(context, event) !== undefined,
    answersLastUnderWay: ({ context, event }) =>
      answered(context, event) !== undefined && callsUnderWay(runOf(context)).length === 1,
    answersPendingCall: ({ context, event }) => {
      if (event.type !== "page.answered") return false;
      const call = callOf(context);
      return (
        event.callId === call.callId &&
        event.tool === call.tool &&
        event.atMs < (runOf(context).deadlineMs ?? Infinity)
      );
    },
    deadlinePassed: ({ context, event }) =>
      (event.type === "call.expired" || event.type === "approval.expired") &&
      event.atMs >= (runOf(context).deadlineMs ?? Infinity),
    isPresentEpoch: ({ context, event }) => "epoch" in event && event.epoch === context.epoch,
    byWhoHasIt: ({ context, event }) =>
      "name" in event && event.epoch === context.epoch && event.name === context.person?.name,
    waitPassed: ({ context, event }) =>
      (event.type === "wait.expired" || event.type === "answer.expired") &&
      event.atMs >= (context.person?.deadlineMs ?? Infinity),
  },
  actions: {
    beginRun: assign({
      run: ({ context, event }) =>
        event.type === "user.said" || event.type === "reply.again" || event.type === "service.instructed"
          ? beginRun(event)
          : context.run,
    }),
    countTokens: assign(({ context, event }) =>
      "usage" in event && event.usage
        ? {
            run: { ...runOf(context), usage: addUsage(runOf(context).usage, event.usage) },
            usage: addUsage(context.usage, event.usage),
          }
        : {},
    ),
    takeCalls: assign({
      run: ({ context, event }) => {
        const run = runOf(context);
        if (event.type !== "agent.called") return run;
        const calls = event.calls.filter(isMade);
        return { ...run, calls, attempt: 1, misses: calls.length < event.calls.length ? run.misses + 1 : 0 };
      },
    }),
    beginCalls: assign({ run: ({ context }) => beginCalls(runOf(context)) }),
    setDeadline: assign({
      run: ({ context, event }) => {
        const run = runOf(context);
        return "atMs" in event ? { ...run, deadlineMs: event.atMs + run.limits.toolResultMs } : run;
      },
    }),
    dropAnsweredCall: assign({
      run: ({ context, event }) => {
        const run = runOf(context);
        const hint = "text" in event ? hintFrom(event.text) : run.hint;
        const { callId } = answered(context, event) ?? currentCall(run);
        return { ...dropCall(run, callId), hint };
      },
    }),
    /** The call waits no more: it is made. */
    approveCall: assign({ run: ({ context }) => approveCall(runOf(context)) }),
    steer: assign({ run: ({ context }) => ({ ...runOf(context), steered: true as const }) }),
    countAttempt: assign({
      run: ({ context }) => ({ ...runOf(context), attempt: runOf(context).attempt + 1 }),
    }),
    endRun: assign({ run: null }),

    // Who answers: each change adds 1 to `epoch`.
    countChange: assign(({ context, event }) => ({
      epoch: context.epoch + 1,
      answererSinceMs: "atMs" in event ? event.atMs : context.answererSinceMs,
    })),
    waitForPerson: assign(({ event }) => {
      if (event.type === "agent.handedOff") return { person: waitFor({ ...event, by: "model" }) };
      return event.type === "person.asked" ? { person: waitFor({ ...event, summary: null }) } : {};
    }),
    /** Before `endRun`: the message of a run that is cut off waits for the person. */
    giveToPerson: assign(({ context: { person, run }, event }) => {
      if (event.type !== "person.took") return {};
      const isWaited = person ? person.deadlineMs !== null : run !== null;
      return { person: takenBy(person, { ...event, isWaited }) };
    }),
    countUnanswered: assign(({ context: { person }, event }) =>
      person && event.type === "user.said" ? { person: writtenTo(person, event) } : {},
    ),
    countPersonMessage: assign({
      person: ({ context: { person } }) => person && { ...person, said: person.said + 1, deadlineMs: null },
    }),
    waitAgain: assign(({ context: { person }, event }) =>
      person && (event.type === "answer.expired" || event.type === "person.queued")
        ? { person: waitAgain(person, event) }
        : {},
    ),
    stopWaiting: assign({ person: null }),
    handBack: assign(({ context, event }) => {
      if (event.type !== "person.returned" && event.type !== "person.closed") return {};
      const how = event.type === "person.closed" ? ("closed" as const) : ("returned" as const);
      const note = "note" in event ? event.note : null;
      return { person: null, handedBack: { name: shownName(context.person) ?? event.name, how, note } };
    }),
    forgetHandedBack: assign({ handedBack: null }),

    // The lines.
    sayDelta: emit(
      ({ event }) => ({ type: "delta", text: event.type === "agent.wrote" ? event.text : "" }) as const,
    ),
    sayStepsRunning: sayEachStep("running"),
    sayStepsFailed: sayEachStep("failed"),
    /** Approve or not: who is asked sees what would be called, and not only what the model says of it. */
    sayApprovalAsked: emit(({ context }): Line => {
      const { callId, tool, arguments: args, confirm = "visitor" } = callOf(context);
      const approval = { callId, by: confirm, tool, arguments: args };
      return { ...stepLine(runOf(context), callOf(context), "running"), approval };
    }),
    sayStepAsks: emit(({ context, event }) =>
      stepLine(
        runOf(context),
        answered(context, event) ?? callOf(context),
        "running",
        event.type === "tool.asked" ? { shown: event.shown } : {},
      ),
    ),
    sayStepResult: emit(({ context, event }) =>
      stepLine(
        runOf(context),
        answered(context, event) ?? callOf(context),
        "isError" in event && event.isError ? "failed" : "done",
        event.type === "tool.returned" ? event : {},
      ),
    ),
    sayToolCall: emit(({ context }): Line => {
      const { tool, arguments: args, callId } = callOf(context);
      return { type: "tool_call", tool, arguments: args, callId };
    }),
    sayDone: emit(({ context, event }): Line => doneLine(context, event)),
    sayHandled: emit(({ context, event }): Line => ({ ...doneLine(context, event), handledBy: "person" })),
    sayHandOff: emit(({ event }): Line => ({
      type: "delta",
      text: event.type === "agent.handedOff" ? event.message : "",
    })),
    sayTaskFailed: emit(({ context }, params: { message: string }): Line => {
      const { hint } = runOf(context);
      return {
        type: "error",
        message: params.message,
        code: "task_failed",
        ...(hint === null ? {} : { hint }),
      };
    }),
    sayError: emit((_, params: { message: string; code: ErrorCode | null }): Line => ({
      type: "error",
      message: params.message,
      ...(params.code ? { code: params.code } : {}),
    })),

    ...effects,
  },
}).createMachine({
  id: "thread",
  context: {
    version: THREAD_CHART_VERSION,
    run: null,
    usage: null,
    epoch: 0,
    answererSinceMs: null,
    person: null,
    handedBack: null,
  },
  initial: "idle",
  states: {
    idle: {
      on: {
        "user.said": {
          target: "running",
          actions: [
            "beginRun",
            { type: "noteHandedBack", params: ({ context: { handedBack } }) => ({ handedBack }) },
            "forgetHandedBack",
            "keepMessage",
          ],
        },
        "reply.again": [
          { guard: "isGone", target: "idle", reenter: true, actions: goneBeforeItBegan },
          { target: "running", actions: ["beginRun", "keepAgain"] },
        ],
        "service.instructed": { target: "running", actions: ["beginRun", "keepInstruction"] },
        "service.said": serviceSaid("idle"),
        "person.asked": { target: "waiting_for_person", actions: ["countChange", "waitForPerson"] },
        "person.took": {
          guard: "isPresentEpoch",
          target: "with_person",
          actions: ["countChange", "giveToPerson"],
        },
      },
    },

    running: {
      initial: "thinking",
      on: {
        "run.failed": {
          guard: "ofThisRun",
          target: "idle",
          actions: [
            "countTokens",
            { type: "sayError", params: ({ event }) => ({ message: event.message, code: event.code }) },
            { type: "keepReply", params: { outcome: "failed" } },
            "endRun",
          ],
        },
        "run.cancelled": {
          guard: "ofThisRun",
          target: "idle",
          actions: [
            "countTokens",
            { type: "sayError", params: stopError },
            { type: "keepReply", params: stopOutcome },
            "endRun",
          ],
        },
        "run.steered": { guard: "ofThisRun", actions: "steer" },
        "person.asked": {
          target: "waiting_for_person",
          actions: ["countTokens", "sayHandled", "leaveToPerson", "endRun", "countChange", "waitForPerson"],
        },
        "person.took": {
          guard: "isPresentEpoch",
          target: "with_person",
          actions: ["countTokens", "sayHandled", "leaveToPerson", "countChange", "giveToPerson", "endRun"],
        },
      },
      states: {
        thinking: {
          entry: "startTurn",
          on: {
            "agent.wrote": { actions: "sayDelta" },
            "agent.called": {
              target: "choosing",
              actions: [
                "countTokens",
                "takeCalls",
                {
                  type: "noteResults",
                  params: ({ event }) => ({
                    results: event.calls.flatMap((call) =>
                      isMade(call) ? [] : [{ callId: call.callId, text: call.reason, isError: true }],
                    ),
                  }),
                },
              ],
            },
            "agent.finished": {
              target: "#thread.idle",
              actions: [
                "countTokens",
                "sayDone",
                { type: "keepReply", params: { outcome: "done" } },
                "endRun",
              ],
            },
            "agent.gaveUp": {
              target: "#thread.idle",
              actions: [
                "countTokens",
                { type: "sayTaskFailed", params: ({ event }) => ({ message: event.reason }) },
                { type: "keepReply", params: { outcome: "failed" } },
                "endRun",
              ],
            },
            "agent.handedOff": {
              target: "#thread.waiting_for_person",
              actions: [
                "countTokens",
                "sayHandOff",
                "sayHandled",
                "leaveToPerson",
                "endRun",
                "countChange",
                "waitForPerson",
              ],
            },
            "run.taken": [
              { guard: "attemptsLeft", target: "thinking", reenter: true, actions: "countAttempt" },
              {
                target: "#thread.idle",
                actions: [
                  { type: "sayError", params: { message: "The run was interrupted too often", code: null } },
                  { type: "keepReply", params: { outcome: "failed" } },
                  "endRun",
                ],
              },
            ],
          },
        },

        choosing: {
          always: [
            {
              guard: "missedTooOften",
              target: "#thread.idle",
              actions: [
                {
                  type: "sayTaskFailed",
                  params: { message: "The agent kept calling tools that do not exist or do not fit" },
                },
                { type: "keepReply", params: { outcome: "failed" } },
                "endRun",
              ],
            },
            {
              guard: "steeredAndAllCallsAnswered",
              target: "#thread.idle",
              actions: [
                "sayDone",
                { type: "keepReply", params: { outcome: "done", isGoneOnWith: true } },
                "endRun",
              ],
            },
            { guard: "allCallsAnswered", target: "thinking" },
            {
              guard: "overToolLimit",
              target: "#thread.idle",
              actions: [
                { type: "sayTaskFailed", params: { message: "The run used more tool calls than it may" } },
                { type: "keepReply", params: { outcome: "failed" } },
                "endRun",
              ],
            },
            {
              guard: "nextNeedsApproval",
              target: "awaitingApproval",
              actions: ["beginCalls", "setDeadline", "sayApprovalAsked"],
            },
            {
              guard: "nextIsPageTool",
              target: "#thread.awaitingPageTool",
              actions: ["beginCalls", "setDeadline", "sayStepsRunning", "sayToolCall"],
            },
            { target: "usingServerTool", actions: ["beginCalls", "sayStepsRunning"] },
          ],
        },

        usingServerTool: {
          entry: { type: "callTools", params: ({ context }) => ({ calls: callsUnderWay(runOf(context)) }) },
          on: {
            "tool.returned": [
              {
                guard: "answersLastUnderWay",
                target: "choosing",
                actions: ["sayStepResult", { type: "noteResults", params: resultOf }, "dropAnsweredCall"],
              },
              {
                guard: "answersCallUnderWay",
                actions: ["sayStepResult", { type: "noteResults", params: resultOf }, "dropAnsweredCall"],
              },
            ],
            "tool.asked": { guard: "answersCallUnderWay", actions: "sayStepAsks" },
            "run.failed": failsWithCalls,
            ...endsWithCalls,
            "run.taken": [
              { guard: "mayRepeatCalls", target: "usingServerTool", reenter: true, actions: "countAttempt" },
              {
                guard: "triedTooOften",
                target: "#thread.idle",
                actions: [
                  "sayStepsFailed",
                  { type: "sayError", params: { message: "The run was interrupted too often", code: null } },
                  { type: "keepReply", params: { outcome: "failed" } },
                  "endRun",
                ],
              },
              {
                target: "choosing",
                actions: [
                  "sayStepsFailed",
                  {
                    type: "noteResults",
                    params: ({ context }) => ({
                      results: [{ callId: callOf(context).callId, text: OUTCOME_UNKNOWN, isError: true }],
                    }),
                  },
                  "dropAnsweredCall",
                ],
              },
            ],
          },
        },

        /** A call waits until somebody approves it. The streams stay open, and the time does not count as the run's. */
        awaitingApproval: {
          entry: {
            type: "awaitApproval",
            params: ({ context }) => ({ deadlineMs: runOf(context).deadlineMs ?? 0 }),
          },
          on: {
            "call.decided": [
              {
                guard: "approvesThis",
                target: "usingServerTool",
                actions: ["approveCall", "sayStepsRunning"],
              },
              { guard: "declinesThis", target: "choosing", actions: notMade(NOT_APPROVED) },
            ],
            "approval.expired": {
              guard: "deadlinePassed",
              target: "choosing",
              actions: notMade(NOBODY_APPROVED),
            },
            "run.failed": failsWithCalls,
            ...endsWithCalls,
            "run.taken": { target: "awaitingApproval", reenter: true },
          },
        },
      },
    },

    /** At rest: no process has the thread in memory until the browser answers, the visitor writes, or the call expires. */
    awaitingPageTool: {
      on: {
        "page.answered": {
          guard: "answersPendingCall",
          target: "running.choosing",
          actions: ["sayStepResult", { type: "noteResults", params: resultOf }, "dropAnsweredCall"],
        },
        "user.said": {
          target: "running",
          actions: [
            "sayStepsFailed",
            { type: "keepReply", params: { outcome: "superseded" } },
            "beginRun",
            "keepMessage",
          ],
        },
        "reply.again": [
          {
            guard: "isGone",
            target: "idle",
            actions: [
              "sayStepsFailed",
              { type: "keepReply", params: { outcome: "superseded" } },
              ...goneBeforeItBegan,
            ],
          },
          {
            target: "running",
            actions: [
              "sayStepsFailed",
              { type: "keepReply", params: { outcome: "superseded" } },
              "beginRun",
              "keepAgain",
            ],
          },
        ],
        "service.said": serviceSaid("awaitingPageTool"),
        "call.expired": {
          guard: "deadlinePassed",
          target: "idle",
          actions: [
            "sayStepsFailed",
            { type: "sayError", params: { message: "The page did not answer in time", code: "expired" } },
            { type: "keepReply", params: { outcome: "expired" } },
            "endRun",
          ],
        },
        ...endsWithCalls,
      },
    },

    /** At rest, until an operator takes the thread, the visitor cancels, or the wait expires. */
    waiting_for_person: {
      on: {
        "user.said": {
          target: "waiting_for_person",
          reenter: true,
          actions: ["beginRun", "keepMessageForPerson", "sayHandled", "leaveToPerson", "endRun"],
        },
        "person.took": {
          guard: "isPresentEpoch",
          target: "with_person",
          actions: ["countChange", "giveToPerson"],
        },
        "person.queued": {
          guard: "isPresentEpoch",
          target: "waiting_for_person",
          reenter: true,
          actions: ["countChange", "waitAgain"],
        },
        "reply.again": leftToPerson("waiting_for_person"),
        "service.said": serviceSaid("waiting_for_person"),
        "person.unasked": { target: "idle", actions: ["countChange", "stopWaiting"] },
        "wait.expired": {
          guard: "waitPassed",
          target: "idle",
          actions: [
            { type: "keepNotice", params: ({ event }) => ({ text: event.unavailable }) },
            "countChange",
            "stopWaiting",
          ],
        },
      },
    },

    /** At rest: no model is called, whatever is written here. A visitor whom the person leaves without an answer waits again. */
    with_person: {
      on: {
        "user.said": {
          target: "with_person",
          reenter: true,
          actions: [
            "beginRun",
            "keepMessageForPerson",
            "sayHandled",
            "leaveToPerson",
            "endRun",
            "countUnanswered",
          ],
        },
        "person.took": {
          guard: "isPresentEpoch",
          target: "with_person",
          reenter: true,
          actions: ["countChange", "giveToPerson"],
        },
        "person.queued": {
          guard: "isPresentEpoch",
          target: "waiting_for_person",
          actions: ["countChange", "waitAgain"],
        },
        "person.said": {
          guard: "byWhoHasIt",
          target: "with_person",
          reenter: true,
          actions: [
            {
              type: "keepPersonMessage",
              params: ({ context, event }) => ({ name: shownName(context.person) ?? event.name }),
            },
            "countPersonMessage",
          ],
        },
        "reply.again": leftToPerson("with_person"),
        "service.said": serviceSaid("with_person"),
        "answer.expired": {
          guard: "waitPassed",
          target: "waiting_for_person",
          actions: [
            { type: "keepNotice", params: ({ event }) => ({ text: event.unanswered }) },
            "countChange",
            "waitAgain",
          ],
        },
        "person.returned": { guard: "byWhoHasIt", target: "idle", actions: ["countChange", "handBack"] },
        "person.closed": { guard: "byWhoHasIt", target: "idle", actions: ["countChange", "handBack"] },
      },
    },
  },
});
