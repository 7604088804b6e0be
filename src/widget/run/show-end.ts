import type { Place } from "../service/visitor.ts";
import type { RunEnd } from "./follow-run.ts";
import type { ConversationParts } from "./parts.ts";
import type { Transcript } from "./transcript.ts";
import { problemOf, tellOwner } from "./troubles.ts";

interface EndedRun {
  parts: ConversationParts;
  transcript: Transcript;
  /** Key of the item that shows the reply. */
  key: string;
  /** What was only listened to may stand in the history by now, and then comes from there. */
  reloadAt: Place | null;
}

/** Shows how a run ended, and tells the page. */
export async function showEnd({ parts, transcript, key, reloadAt }: EndedRun, end: RunEnd): Promise<void> {
  const { board, host } = parts;
  const text = board.item(key)?.text ?? "";
  board.settle(key);
  let shownIn = key;
  if (reloadAt !== null && (end.type === "done" || end.type === "error" || end.type === "none")) {
    await transcript.reload(reloadAt);
    shownIn = board.shown.items.at(-1)?.key ?? key;
  }
  switch (end.type) {
    case "done":
      board.change({ spoken: text.slice(0, 600) });
      board.rest();
      if (!host.isSeen()) board.countUnread();
      host.emit("message", { role: "assistant", text });
      host.emit("done", end);
      return;
    case "error": {
      if (board.item(shownIn)?.role !== "assistant") shownIn = board.add("assistant", "").key;
      board.fail(shownIn, problemOf(end, host.strings()));
      if (!host.isSeen()) board.countUnread();
      const { type: _type, ...error } = end;
      host.emit("error", error);
      return;
    }
    case "none":
    case "elsewhere":
      board.rest();
      return;
    case "lost":
      if (board.item(key) === null) shownIn = board.add("assistant", "").key;
      board.fail(shownIn, { text: host.strings().cut, retry: "attach" });
      tellOwner(end.cause);
      host.emit("error", { message: "The connection to the run is lost" });
  }
}

/** A run that was stopped, where no line of a stream tells it. */
export function showStopped({ board, host }: ConversationParts, key: string): void {
  board.fail(key, { text: host.strings().stopped, retry: null });
  host.emit("error", { code: "cancelled", message: "The run was stopped" });
}
