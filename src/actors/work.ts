import type { Call } from "../../machines/run.ts";
import type { ThreadEvent } from "../../machines/thread.ts";
import type { Turn, TurnEnd } from "../agent.ts";
import type { TurnItem } from "../domain/message.ts";
import { ModelFault } from "../model.ts";
import type { Wrote } from "../model.ts";
import type { ThreadDependencies } from "./dependencies.ts";

/**
 * What the present state of a run waits for: a turn of the model, or a call of a tool. One thing at a time; what comes of
 * it is events, and is dropped when the state was left meanwhile.
 */
export interface Work {
  /** `onText` is given what the model wrote and how to tell of it, and answers as `wrote` does. */
  think(
    runId: string,
    turn: Turn | Promise<Turn>,
    onText: (text: string, tell: Tell) => ReturnType<Wrote>,
  ): void;
  useTool(runId: string, call: Call): void;
  /** The state is left. */
  leave(): void;
}

export type Tell = (event: ThreadEvent) => void;

/** Why it is aborted. One for all: a stack of its own would cost every run some microseconds. */
const STATE_LEFT = new Error("The run has left the state that waited for this");

export function createWork(
  { agent, clock, log }: Pick<ThreadDependencies, "agent" | "clock" | "log">,
  thread: {
    uid: string;
    slug: string;
    /** Runs a step in its turn among the thread's events. */
    post(step: () => void | Promise<void>): void;
    /** `item`: what the model said in the turn that the event ends. */
    handle(event: ThreadEvent, item: TurnItem | null): void | Promise<void>;
  },
): Work {
  let task: AbortController | null = null;

  function begin(runId: string) {
    const { signal } = (task = new AbortController());
    const tell = (event: ThreadEvent, item: TurnItem | null = null): void =>
      thread.post(() => {
        if (!signal.aborted) return thread.handle(event, item);
      });
    const fail = (error: unknown): void =>
      tell({ type: "run.failed", message: faultText(error, runId, signal), code: null });
    return { signal, tell, fail };
  }

  /** The words for the visitor; the cause is for the log alone. */
  function faultText(error: unknown, runId: string, signal: AbortSignal): string {
    if (!signal.aborted) log.warn({ uid: thread.uid, runId, err: error }, "a run failed");
    return error instanceof ModelFault ? error.message : "Something went wrong on the server";
  }

  return {
    think(runId, turn, onText) {
      const { signal, tell, fail } = begin(runId);
      const thinkOf = (ready: Turn) => agent.think(ready, (text) => onText(text, tell), signal);
      const ending = turn instanceof Promise ? turn.then(thinkOf) : thinkOf(turn);
      ending.then((end) => tell(eventOf(end, clock.now()), "item" in end ? end.item : null), fail);
    },

    useTool(runId, call) {
      const { signal, tell, fail } = begin(runId);
      const { callId } = call;
      agent
        .useTool(thread.slug, call, signal)
        .then(
          ({ text, isError }) => tell({ type: "tool.returned", callId, text, isError, atMs: clock.now() }),
          fail,
        );
    },

    leave() {
      task?.abort(STATE_LEFT);
      task = null;
    },
  };
}

function eventOf(end: TurnEnd, atMs: number): ThreadEvent {
  switch (end.type) {
    case "finished":
      return { type: "agent.finished", usage: end.usage, atMs };
    case "called":
      return { type: "agent.called", calls: end.calls, usage: end.usage, atMs };
    case "gaveUp":
      return { type: "agent.gaveUp", reason: end.reason, usage: end.usage, atMs };
    case "overBudget":
      return { type: "run.failed", message: end.message, code: "budget_exceeded" };
  }
}
