import { cutText } from "../../../machines/line.ts";
import type { ErrorCode } from "../../../machines/line.ts";
import type { Call, Usage } from "../../../machines/run.ts";
import type { ThreadEvent } from "../../../machines/thread.ts";
import type { OnAsked, Turn, TurnEnd } from "../../agent.ts";
import type { TurnItem } from "../../domain/threads/message.ts";
import { handOffOf } from "../../domain/threads/hand-off.ts";
import { withResultImages } from "../../domain/threads/told-images.ts";
import type { ToolImages } from "../../domain/threads/told-images.ts";
import { ModelFault } from "../../model.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { LongReply } from "./long-replies.ts";
import { withFiles, withImages, withWholeReplies } from "./next-turn.ts";
import type { PerformedEffect } from "./plan-change.ts";
import { retryDuringOutage } from "../recover/retry-during-outage.ts";
import type { RunLog } from "./run-log.ts";
import { turnEvent } from "./turn-event.ts";

/**
 * The work that a run's present state waits for: one model turn, or calls of tools. Its results are events, which
 * are dropped if the run has left that state meanwhile.
 */
export interface Work {
  perform(effect: PerformedEffect, run: WorkingRun): void;
  /** What the model's turn under way has cost so far (OnAsked); null: there is none, or it has cost nothing. */
  cost(): Usage | null;
  /** The run leaves the state: aborts the work. */
  leave(): void;
}

/** The active run, as the work needs it. */
export interface WorkingRun {
  log: RunLog;
  longReply: LongReply;
  /** The input of the next model call. */
  turn: () => Turn;
}

function saysText(item: TurnItem): boolean {
  return item.type === "assistant" && item.text !== "";
}

const nothing = () => null;
const NO_IMAGES: ToolImages = new Map();

/** The reason of every abort. Shared: an error with a stack of its own would cost each run some microseconds. */
const STATE_LEFT = new Error("The run has left the state that waited for this");

export function createWork(
  dependencies: Pick<
    ThreadDependencies,
    "agent" | "store" | "handOff" | "clock" | "timers" | "log" | "limits" | "observer"
  >,
  thread: {
    uid: string;
    slug: string;
    /** Queues a step among the thread's events. */
    post: (step: () => void | Promise<void>) => void;
    /** `item`: the model's output of the turn that the event ends. */
    handle: (event: ThreadEvent, item: TurnItem | null) => void | Promise<void>;
    /** Calls wait for the visitor, and no longer do: such time does not count as the run's. */
    pause: () => void;
    goOn: () => void;
    /** Trace fields for log lines. */
    traced: () => object;
  },
): Work {
  const { agent, store, clock, timers, log, limits, observer } = dependencies;
  const { handOff = () => handOffOf(undefined) } = dependencies;
  let task: AbortController | null = null;
  let cost: () => Usage | null = nothing;
  /** Of the run that was worked on last: they are nowhere else, so whoever takes the run over goes on without them. */
  let shown: { runId: string; images: ToolImages } = { runId: "", images: NO_IMAGES };
  const shownIn = (runId: string) => (shown.runId === runId ? shown.images : NO_IMAGES);

  function begin(runId: string) {
    const { signal } = (task = new AbortController());
    const tell = (event: ThreadEvent, item: TurnItem | null = null): void =>
      thread.post(() => {
        if (!signal.aborted) return thread.handle(event, item);
      });
    const end = (message: string, code: ErrorCode | null = null): void =>
      tell({ type: "run.failed", runId, message, code });
    const fail = (error: unknown): void => end(faultText(error, runId, signal));
    return { signal, tell, end, fail };
  }

  /** The text for the visitor; the cause goes to the log only. */
  function faultText(error: unknown, runId: string, signal: AbortSignal): string {
    if (!signal.aborted) log.warn({ uid: thread.uid, runId, ...thread.traced(), err: error }, "a run failed");
    return error instanceof ModelFault ? error.message : "Something went wrong on the server";
  }

  /** An answer without a word is an error for the visitor, and what it cost may tell the operator why. */
  function noteNothingSaid(
    { message, usage, finishReason, item }: Extract<TurnEnd, { type: "saidNothing" }>,
    runId: string,
  ): void {
    const model = "by" in item ? item.by : undefined;
    const tokens = usage && { inputTokens: usage.input, outputTokens: usage.output };
    const isFull = usage !== null && usage.input > 0 && usage.output === 0;
    log.warn(
      { uid: thread.uid, runId, ...thread.traced(), model, reason: message, finishReason, ...tokens },
      isFull
        ? "a run failed: the model gave no answer, and wrote no token; if its context is full, lower AGENT_MAX_INPUT_TOKENS or give it more"
        : "a run failed: the model gave no answer",
    );
  }

  function think({ log: said, longReply, turn }: WorkingRun): void {
    const { runId } = said;
    const { signal, tell, end, fail } = begin(runId);
    const toolImages = shownIn(runId);
    const asked = { ...turn(), ...(toolImages.size > 0 ? { toolImages } : {}) };
    shown = { runId, images: toolImages };

    /** How many more characters the reply may have; counts text that is queued and not in the log yet. */
    let room = Math.max(limits.runMaxReplyChars - said.textChars, 0);
    let isFirst = said.textChars === 0;

    /** A promise: the model's stream is not read before it resolves. */
    function wrote(text: string): Promise<void> | undefined {
      if (isFirst) observer.firstText?.({ slug: thread.slug, waitedMs: clock.now() - asked.run.saidAtMs });
      isFirst = false;
      const fitting = cutText(text, room);
      room -= fitting.length;
      if (fitting !== "") tell({ type: "agent.wrote", text: fitting });
      if (fitting.length < text.length) {
        room = 0;
        end("The reply grew longer than it may");
      }
      return longReply.grew();
    }

    /** Text that was dropped from memory; retried during an outage. */
    async function keptText(runId: string, parts: number): Promise<string> {
      const isWanted = () => !signal.aborted;
      const read = () => store.keptText(thread.uid, runId, parts);
      return (await retryDuringOutage(timers, read, { isWanted, onAway() {} })) ?? "";
    }

    const onAsked: OnAsked = (soFar) => {
      if (!signal.aborted) cost = soFar;
    };

    /** Before the model, a turn asks the store for the user's spent tokens: an outage only delays the turn. */
    async function ask(whole: Turn): Promise<TurnEnd> {
      const isWanted = () => !signal.aborted;
      const think = () => agent.think(whole, wrote, signal, onAsked);
      return (
        (await retryDuringOutage(timers, think, { isWanted, onAway() {} })) ?? Promise.reject(STATE_LEFT)
      );
    }

    /** What a model is shown beside the texts; null: the run has ended. */
    function shownPart<Part>(read: () => Promise<Part>): Promise<Part | null> {
      return retryDuringOutage(timers, read, { isWanted: () => !signal.aborted, onAway() {} });
    }

    const keptImages = async (runId: string) =>
      (await shownPart(() => store.keptImages(thread.uid, runId))) ?? [];
    const files = {
      file: (id: string) => shownPart(() => store.keptFile(thread.uid, id)),
      bytes: (id: string) => shownPart(() => store.keptFileBytes(thread.uid, id)),
    };

    const whole = withWholeReplies(asked, keptText);
    const seeing = then(whole, (read) => withImages(read, keptImages));
    const reading = then(seeing, (read) => withFiles(read, files));
    const ending = reading instanceof Promise ? reading.then(ask) : ask(reading);
    ending.then((turnEnd) => {
      if (turnEnd.type === "saidNothing") noteNothingSaid(turnEnd, runId);
      const hasSaid = said.textChars > 0 || ("item" in turnEnd && saysText(turnEnd.item));
      // The service's own text for the hand-off begins a new paragraph.
      if (turnEnd.type === "handedOff" && hasSaid) tell({ type: "agent.wrote", text: "\n\n" });
      const event = turnEvent(runId, turnEnd, clock.now(), () => handOff(thread.slug));
      tell(event, "item" in turnEnd ? turnEnd.item : null);
    }, fail);
  }

  /** Side by side: each result is told as it comes. */
  function useTools({ log: { runId }, turn }: WorkingRun, calls: readonly Call[]): void {
    const { signal, tell, fail } = begin(runId);
    const { run, traceparent } = turn();
    const by = { userId: run.userId, uid: thread.uid, api: run.api, traceparent };
    let waiting = 0;

    /** What the visitor is shown while the call waits for them; ends the wait when it is called. */
    const asks = (callId: string) => (shown: string) => {
      tell({ type: "tool.asked", callId, shown });
      waiting += 1;
      thread.pause();
      return () => {
        waiting -= 1;
        if (waiting === 0) thread.goOn();
      };
    };

    for (const call of calls) {
      const { callId } = call;
      const caller = { ...by, waitMs: limits.toolResultTimeoutMs, asks: asks(callId) };
      agent.useTool(thread.slug, call, signal, caller).then(({ images, ...result }) => {
        if (images && !signal.aborted)
          shown = { runId, images: withResultImages(shownIn(runId), callId, images) };
        tell({ type: "tool.returned", callId, ...result, atMs: clock.now() });
      }, fail);
    }
  }

  /** Nothing is done but waiting, which does not count as the run's time; whoever approves sends the event (approve.ts). */
  function awaitApproval({ log: { runId } }: WorkingRun, deadlineMs: number): void {
    const { signal, tell } = begin(runId);
    let callOff = () => {};
    // The deadline is by the store's time of day, which timers do not keep.
    const wait = (): void => {
      const atMs = clock.now();
      if (atMs >= deadlineMs) return tell({ type: "approval.expired", atMs });
      callOff = timers.after(deadlineMs - atMs, wait);
    };
    wait();
    thread.pause();
    signal.addEventListener("abort", () => {
      callOff();
      thread.goOn();
    });
  }

  return {
    perform(effect, run) {
      switch (effect.type) {
        case "startTurn":
          return think(run);
        case "callTools":
          return useTools(run, effect.params.calls);
        case "awaitApproval":
          return awaitApproval(run, effect.params.deadlineMs);
      }
    },

    cost: () => cost(),

    leave() {
      task?.abort(STATE_LEFT);
      task = null;
      cost = nothing;
    },
  };
}

/** Without a tick where nothing is waited for. */
function then<Value>(value: Value | Promise<Value>, next: (value: Value) => Value | Promise<Value>) {
  return value instanceof Promise ? value.then(next) : next(value);
}
