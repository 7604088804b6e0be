import { isSameFeedback, mayBeRated, withFeedback } from "../../../domain/threads/feedback.ts";
import type { Rated, Rating, ThreadStore } from "../../../store/threads.ts";
import { openedFeedback, sealedFeedback } from "../../content-keys/sealed-records.ts";
import { slotOf, textOfEntry } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { readMessage } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { untilApplied } from "../until-applied.ts";
import { entryOf } from "./commit-writes.ts";
import type { KnownFacts } from "./facts.ts";
import { numberOf } from "./reading.ts";
import { tellingWrites, unqueuedOf, unqueuedRead } from "./tellings.ts";

const NAME = { name: "rate" };

/**
 * Puts a message with another rating in the place of the one that was read. Without a fence: who holds the thread only adds
 * to its messages. The header's `rated` tells a repeat from somebody who says the same.
 */
export function rateStep({ engine, codec }: StepsContext, known: KnownFacts): ThreadStore["rate"] {
  return async (rating) => {
    const number = numberOf(rating.messageId);
    if (number === 0) return { type: "not-found" };
    return untilApplied(`rate a message of thread ${rating.uid}`, () => rate(rating, String(number)));
  };

  async function rate(rating: Rating, number: string): Promise<Rated | undefined> {
    const { uid, opId, feedback, tells, atMs } = rating;
    const header = tables.header.key(uid);
    const key = tables.messages.key(uid);
    const reads = [
      { read: "fields", key: header, fields: [HEADER.slug, HEADER.messages, HEADER.told, HEADER.rated] },
      { read: "fields", key, fields: [number] },
    ] as const;
    const [[slug, count, told = null, rated = null], [before = null]] = await engine.read(reads, NAME);
    if (!slug || before === null || Number(number) > Number(count ?? 0)) return { type: "not-found" };
    const message = readMessage(jsonValue(textOfEntry(before)), uid);
    if (!mayBeRated(message)) return { type: "not-found" };
    const ratedBefore = message.feedback;
    const feedbackBefore = ratedBefore
      ? await codec.read(uid, (open) => openedFeedback(ratedBefore, message.id, open))
      : null;
    if (isSameFeedback(feedbackBefore, feedback)) return { type: "unchanged" };

    const seal = await codec.sealOf({ uid, slug, userId: null });
    const entry = entryOf(
      Number(number),
      withFeedback(message, seal && feedback ? sealedFeedback(feedback, message.id, seal) : feedback),
    );
    // Stopped before its message was written, this rating has told already.
    const toldBefore = Number(told ?? 0) - (rated === opId ? tells.length : 0);
    const telling = tellingWrites({ uid, slug, atMs, told: toldBefore }, tells, seal);
    const toldAfter = tells.length > 0 ? ([[HEADER.told, String(toldBefore + tells.length)]] as const) : [];
    const applied = await engine.apply({
      ...NAME,
      slot: slotOf(header),
      checks: [
        { check: "field", key, field: number, is: [before] },
        { check: "field", key: header, field: HEADER.told, is: [told] },
        { check: "field", key: header, field: HEADER.rated, is: [rated] },
        { check: "field", key: header, field: HEADER.deletedAtMs, is: [null] },
      ],
      writes: [
        ...telling.writes,
        { write: "set", key: header, fields: [...toldAfter, [HEADER.rated, opId]] },
      ],
      op: { key: header, field: HEADER.rated, value: opId },
      // Not before: a repeat that finds the message rated would take it for done.
      after: [{ write: "set", key, fields: [entry] }],
      reads: [unqueuedRead(uid)],
    });
    if (applied.type === "failed") return undefined;
    if (tells.length === 0) return { type: "rated", before: feedbackBefore, unqueued: [] };
    // A commit checks how many events there were.
    known.forget(uid);
    const earlier = unqueuedOf({ uid, slug, told: toldBefore }, applied.reads[0]);
    return { type: "rated", before: feedbackBefore, unqueued: [...earlier, ...telling.refs] };
  }
}
