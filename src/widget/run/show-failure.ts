import { busySeconds, refusedStatus } from "../service/widget-api.ts";
import type { ShownMessage } from "../view/view-state.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import { pauseBusy } from "./pause.ts";
import { dropUnsent, keepUnsent } from "./unsent-messages.ts";
import { warnOwner } from "./warn-owner.ts";
import { writeDraft } from "./write-draft.ts";

type FailureDependencies = Pick<ConversationDependencies, "view" | "host" | "tabStorage">;

/** A request failed: the visitor sees it, the page gets an event, the page's owner a warning. */
export function showFailure(dependencies: FailureDependencies, error: unknown): void {
  const { view, host } = dependencies;
  emitError(dependencies, error);
  warnOwner(error);
  const status = refusedStatus(error);
  if (status === 403 || status === 401) view.setPhase("blocked");
  else if (!navigator.onLine) view.setPhase("offline");
  else if (status === 429) void pauseBusy(dependencies, busySeconds(error));
  else {
    if (view.state.phase !== "error") view.notify(host.strings().failed, true);
    view.setPhase("error");
  }
}

interface Undelivered {
  message: OutgoingMessage;
  /** The message and its reply to be, as they are shown. */
  sent: ShownMessage;
  reply: ShownMessage;
}

/** The service did not take the message. A text that is too long, or has to wait, goes back to the composer. */
export function showUndelivered(
  dependencies: FailureDependencies & Pick<ConversationDependencies, "sharedStorage">,
  error: unknown,
  { message, sent, reply }: Undelivered,
): void {
  const { view, host, sharedStorage } = dependencies;
  const status = refusedStatus(error);
  const isTooLong = status === 413 || status === 422;
  if (isTooLong || status === 429) {
    dropUnsent(sharedStorage, message);
    view.remove(sent.key, reply.key);
    writeDraft(dependencies, message.text);
    view.rest();
  } else {
    keepUnsent(sharedStorage, message);
    view.remove(reply.key);
    view.fail(sent.key, { text: host.strings().notSent, retry: "resend" });
  }
  if (isTooLong) {
    view.notify(host.strings().tooLong, true);
    emitError(dependencies, error);
  } else {
    showFailure(dependencies, error);
  }
}

function emitError({ host }: FailureDependencies, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const status = refusedStatus(error);
  host.emit("error", status === 0 ? { message } : { message, status });
}
