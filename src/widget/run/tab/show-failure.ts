import { busySeconds, refusedStatus, Unreachable } from "../../service/widget-api.ts";
import type { ViewModel } from "../../view/view-model.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import { pauseBusy } from "./pause.ts";
import { dropUnsent, keepUnsent } from "../messages/unsent-messages.ts";
import { warnOwner } from "../warn-owner.ts";
import { writeDraft } from "../write-draft.ts";

type FailureDependencies = Pick<ConversationDependencies, "view" | "host" | "tabStorage" | "visitor">;

/** The conversation could not be loaded: the visitor sees why, the page gets an event, the page's owner a warning. */
export function showFailure(dependencies: FailureDependencies, error: unknown): void {
  const { view } = dependencies;
  const text = wordsFor(error, dependencies);
  // The same failure twice is reported once.
  if (view.state.notice?.text !== text) report(dependencies, error);
  if (refusedStatus(error) === 429) void pauseBusy(dependencies, busySeconds(error));
  else view.change({ notice: { text, alert: true, retry: true } });
}

/** The service refuses this page (its key or origin), or this visitor. */
function isRefusal(error: unknown, { state }: ViewModel): boolean {
  return state.isOriginRefused === true || [401, 403].includes(refusedStatus(error));
}

function wordsFor(error: unknown, { host, view, visitor }: FailureDependencies): string {
  const strings = host.strings();
  const status = refusedStatus(error);
  // An unknown token is replaced, so the refusal is of the publishable key.
  if (status === 401 || view.state.isOriginRefused) return strings.misconfigured;
  if (status === 403) return visitor.isUnknown ? strings.closed : strings.refused;
  return status >= 500 || error instanceof Unreachable ? strings.unreachable : strings.failed;
}

interface Undelivered {
  message: OutgoingMessage;
  /** Keys of the message as it is shown, and of the reply that was to come. */
  sentKey: string;
  replyKey: string;
}

/** The service did not accept the message. A text that is too long, or has to wait, goes back to the composer. */
export function showUndelivered(
  dependencies: FailureDependencies & Pick<ConversationDependencies, "sharedStorage">,
  error: unknown,
  { message, sentKey, replyKey }: Undelivered,
): void {
  const { view, host, sharedStorage } = dependencies;
  const status = refusedStatus(error);
  const isTooLong = status === 413 || status === 422;
  if (isTooLong || status === 429) {
    dropUnsent(sharedStorage, message);
    view.remove(sentKey, replyKey);
    writeDraft(dependencies, message.text);
    const files = message.files?.map((taken) => ({ key: taken.id, ...taken, taken })) ?? [];
    view.change({ images: message.images ?? [], files });
    if (isTooLong) view.notify(host.strings()[message.images ? "imagesRefused" : "tooLong"], true);
    else void pauseBusy(dependencies, busySeconds(error));
  } else {
    keepUnsent(sharedStorage, message);
    view.remove(replyKey);
    const text = isRefusal(error, view) ? wordsFor(error, dependencies) : host.strings().notSent;
    view.fail(sentKey, { text, retry: "resend" });
  }
  report(dependencies, error, !isTooLong);
}

function report({ host }: FailureDependencies, error: unknown, isOwners = true): void {
  if (isOwners) warnOwner(error);
  const message = error instanceof Error ? error.message : String(error);
  const status = refusedStatus(error);
  host.emit("error", status === 0 ? { message } : { message, status });
}
