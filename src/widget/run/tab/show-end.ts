import type { ThreadAccess } from "../../service/visitor-session.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import type { RunEnd } from "./follow-run.ts";
import { spokenText } from "../../view/panel-module.ts";
import { problemOf } from "./problem-of.ts";
import type { Transcript } from "../messages/transcript.ts";
import { warnOwner } from "../warn-owner.ts";

interface EndedRun extends ConversationDependencies {
  transcript: Transcript;
  /** The reply's key. */
  key: string;
  /** Set where this tab only listened: the history may hold the reply by now, and is shown instead. */
  reloadFrom: ThreadAccess | null;
  /** The feed reported the run, and reports how it continues. */
  isTold: boolean;
}

/** Shows how a run ended, and emits it. */
export async function showEnd(run: EndedRun, end: RunEnd): Promise<void> {
  const { view, host, transcript, key, reloadFrom, isTold } = run;
  const text = view.message(key)?.text ?? "";
  view.settle(key);
  let shownKey = key;
  if (reloadFrom !== null && (end.type === "done" || end.type === "error" || end.type === "none")) {
    await transcript.reload(reloadFrom);
    shownKey = view.state.messages.at(-1)?.key ?? key;
  }
  switch (end.type) {
    case "done":
      view.change({ announcement: spokenText(text) });
      if (end.finishReason !== undefined) view.edit(shownKey, (reply) => ({ ...reply, isCutOff: true }));
      view.rest();
      if (!host.isSeen()) view.countUnread();
      host.emit("message", { role: "assistant", text });
      host.emit("done", end);
      return;
    case "error": {
      if (view.message(shownKey)?.role !== "assistant") shownKey = view.addReply().key;
      view.fail(shownKey, problemOf(end, host.strings()));
      if (!host.isSeen()) view.countUnread();
      const { type: _type, ...error } = end;
      host.emit("error", error);
      return;
    }
    case "none":
    case "elsewhere":
      view.rest();
      return;
    case "lost":
      if (isTold) {
        view.remove(key);
        return view.rest();
      }
      return showLost(run, key, end.cause);
  }
}

/** The run may continue without this tab. The feed may have brought its reply already. */
export function showLost({ view, host }: ConversationDependencies, key: string, cause: unknown): void {
  if (view.hasArrived(key)) view.rest();
  else
    view.fail(view.message(key)?.key ?? view.addReply().key, { text: host.strings().cut, retry: "attach" });
  warnOwner(cause);
  host.emit("error", { message: "The connection to the run is lost" });
}

/** For a stop that no line of a stream reports. */
export function showStopped({ view, host }: ConversationDependencies, key: string): void {
  view.fail(key, { text: host.strings().stopped, retry: null });
  host.emit("error", { code: "cancelled", message: "The run was stopped" });
}
