import type { ThreadEvent } from "../../../machines/thread.ts";
import type { TurnEnd } from "../../agent.ts";
import type { HandOff } from "../../domain/threads/hand-off.ts";

/** The event for the thread's chart that the end of a model's turn causes. */
export function turnEvent(runId: string, end: TurnEnd, atMs: number, handOff: () => HandOff): ThreadEvent {
  switch (end.type) {
    case "finished":
      return { type: "agent.finished", usage: end.usage, finishReason: end.finishReason ?? null, atMs };
    case "saidNothing":
      return { type: "run.failed", runId, message: end.message, code: null, usage: end.usage };
    case "called":
      return { type: "agent.called", calls: end.calls, usage: end.usage, atMs };
    case "gaveUp":
      return { type: "agent.gaveUp", reason: end.reason, usage: end.usage, atMs };
    case "handedOff": {
      const { reason, summary, queue, usage } = end;
      const { message, waitMs } = handOff();
      return { type: "agent.handedOff", reason, summary, queue, message, waitMs, usage, atMs };
    }
    case "overBudget":
      return { type: "run.failed", runId, message: end.message, code: "budget_exceeded" };
  }
}
