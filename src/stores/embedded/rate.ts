import { isSameFeedback, mayBeRated, withFeedback } from "../../domain/feedback.ts";
import type { Rated, Rating } from "../../store/threads.ts";
import type { ThreadRecords } from "./thread-records.ts";

/** Within a change. `position`: the message's, from its id. */
export function rateMessage(records: ThreadRecords, position: number, rating: Rating): Rated {
  const { uid, feedback, tells } = rating;
  const header = records.header(uid);
  const message = records.message(uid, position);
  if (!header || records.isDeleted(uid) || !message || !mayBeRated(message)) return { type: "not-found" };
  const before = message.feedback ?? null;
  if (isSameFeedback(before, feedback)) return { type: "unchanged" };
  records.putMessage(uid, position, withFeedback(message, feedback));
  const { slug, told = 0 } = header;
  const unqueued = records.outbox.tell({ slug, uid, told }, tells);
  if (tells.length > 0) records.putHeader(uid, { ...header, told: told + tells.length });
  return { type: "rated", before, unqueued };
}
