import { pause } from "./pause.ts";
import { writeDraft } from "./draft.ts";
import type { ConversationParts } from "./parts.ts";
import type { Item } from "../view/state.ts";
import { Refused, refusedStatus } from "../service/transport.ts";
import { tellOwner } from "./troubles.ts";

type Shown = Pick<ConversationParts, "board" | "host">;

/** A request that failed: to the visitor in words, to the page as an event, to the page's owner in the console. */
export function showTrouble({ board, host }: Shown, error: unknown): void {
  report({ board, host }, error);
  tellOwner(error);
  const status = refusedStatus(error);
  if (status === 403 || status === 401) board.phase("blocked");
  else if (!navigator.onLine) board.phase("offline");
  else if (error instanceof Refused && status === 429) {
    void pause({ board, host }, error.retryAfterSeconds, "busy");
  } else {
    if (board.shown.phase !== "error") board.tell(host.strings().failed, true);
    board.phase("error");
  }
}

/** A message that the service did not take. What can be shortened, or has to wait, goes back to where it was written. */
export function showNotTaken(
  parts: Shown & Pick<ConversationParts, "tab">,
  error: unknown,
  { question, answer }: { question: Item; answer: Item },
): void {
  const { board, host } = parts;
  const status = refusedStatus(error);
  const isUnfit = status === 413 || status === 422;
  if (isUnfit || status === 429) {
    board.drop(question.key, answer.key);
    writeDraft(parts, question.text);
    board.rest();
  } else {
    board.drop(answer.key);
    board.fail(question.key, { text: host.strings().notSent, retry: "resend" });
  }
  if (isUnfit) {
    board.tell(host.strings().tooLong, true);
    report(parts, error);
  } else {
    showTrouble(parts, error);
  }
}

function report({ host }: Shown, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  host.emit("error", error instanceof Refused ? { message, status: error.status } : { message });
}
