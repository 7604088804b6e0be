import type { RunEnd } from "../../../../machines/tab-events.ts";
import { spokenText } from "../../view/panel-module.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { problemOf } from "./problem-of.ts";
import { warnOwner } from "../warn-owner.ts";

type EndDependencies = Pick<ConversationDependencies, "view" | "host">;

/** Shows how a run ended, and emits it. `key`: of the reply; `text`: what was seen of it. */
export function showEnd({ view, host }: EndDependencies, end: RunEnd, key: string, text: string): void {
  if (end.type === "none") return;
  if (end.type === "done") {
    view.change({ announcement: spokenText(text) });
    if (end.finishReason !== undefined) view.edit(key, (reply) => ({ ...reply, isCutOff: true }));
  } else {
    const shownKey = view.message(key)?.role === "assistant" ? key : view.addReply().key;
    view.fail(shownKey, problemOf(end, host.strings()));
  }
  if (!host.isSeen()) view.countUnread();
  if (end.type === "done") {
    host.emit("message", { role: "assistant", text });
    host.emit("done", end);
  } else {
    const { type: _type, ...error } = end;
    host.emit("error", error);
  }
}

/** The run may continue without this tab. The feed may have brought its reply already. */
export function showLost({ view, host }: EndDependencies, key: string, cause: unknown): void {
  if (!view.hasArrived(key))
    view.fail(view.message(key)?.key ?? view.addReply().key, { text: host.strings().cut, retry: "attach" });
  warnOwner(cause);
  host.emit("error", { message: "The connection to the run is lost" });
}

/** For a stop that no line of a stream reports. */
export function showStopped({ view, host }: EndDependencies, key: string): void {
  view.fail(key, { text: host.strings().stopped, retry: null });
  host.emit("error", { code: "cancelled", message: "The run was stopped" });
}
