import type { Feedback } from "../../domain/threads/message.ts";
import { Refusal } from "../../domain/refusal.ts";
import { tellingsOf } from "../../domain/threads/tellings.ts";
import type { ToldEvent } from "../../domain/channels/webhook.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { OnReadable } from "../recover/on-readable.ts";

export interface GivenFeedback {
  uid: string;
  slug: string;
  messageId: string;
  /** null: withdraws the former rating. */
  rating: Feedback["rating"] | null;
  comment?: string;
}

/**
 * Stores a visitor's rating of a reply (contract, Feedback). It bypasses the thread's chart and fence and is written into
 * the message: a rating decides nothing, so a run in progress is not affected. Refusal("not-found") unless the id is a
 * reply's.
 */
export function createRate({
  store,
  clock,
  newId,
  observer,
  webhooks = () => [],
  onReadable,
}: Pick<ThreadDependencies, "store" | "clock" | "newId" | "observer" | "webhooks"> & {
  onReadable: OnReadable;
}): (given: GivenFeedback) => Promise<void> {
  return async ({ uid, slug, messageId, rating, comment }) => {
    const atMs = clock.now();
    const about = comment === undefined || rating === null ? {} : { comment };
    const feedback = rating && { rating, ...about, atMs };
    const event: ToldEvent = {
      id: `msg_${newId()}`,
      type: "feedback.given",
      atMs,
      data: { messageId, rating, ...about },
    };
    const tells = tellingsOf(webhooks(slug), [event]);
    const asked = { uid, opId: newId(), messageId, feedback, atMs, tells };
    const rated = await onReadable(uid, () => store.rate(asked));
    if (rated.type === "not-found")
      throw new Refusal("not-found", "Unknown message, or none of the assistant's");
    if (rated.type === "rated") observer.rated?.({ slug, before: rated.before, feedback, atMs });
  };
}
