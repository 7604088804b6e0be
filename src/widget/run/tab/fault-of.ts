import type { Fault } from "../../../../machines/tab-events.ts";
import { INTERRUPTED } from "../../../client/core/follow.ts";
import { askedSeconds, refusedStatus, Unreachable } from "../../service/widget-api.ts";
import type { ViewModel } from "../../view/view-model.ts";
import type { ActiveRun } from "./active-run.ts";

/** What an error means to the tab's chart. `run`: the run that it is of; null: none. */
export function faultOf(
  view: ViewModel,
  cause: unknown,
  run: Pick<ActiveRun, "sentKey" | "replyKey"> | null,
): Fault {
  const status = refusedStatus(cause);
  return {
    status,
    waitSeconds: askedSeconds(cause),
    isUnanswered: cause instanceof Unreachable || status >= 500,
    isInterrupted: cause === INTERRUPTED,
    isOriginRefused: view.state.isOriginRefused === true,
    isOnline: navigator.onLine,
    hasMessage: run !== null && view.hasArrived(run.sentKey),
    hasReply: run !== null && view.hasArrived(run.replyKey),
    cause,
  };
}
