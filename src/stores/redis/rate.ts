import { isSameFeedback, mayBeRated, withFeedback } from "../../domain/feedback.ts";
import type { Rated, Rating } from "../../store/threads.ts";
import { bucketOf } from "../buckets.ts";
import type { RedisCommands } from "./commands.ts";
import { threadKeys, unqueuedKey } from "./keys.ts";
import { refsFrom } from "./outbox.ts";
import { listOf, messageEntry, messageFrom, textOf, textOrNull } from "./records.ts";
import { tellEntries } from "./tell-entries.ts";

/** `place`: the message's, counted from 1. Reads the message and replaces what it read; repeats if it has changed. */
export async function rateMessage(redis: RedisCommands, place: number, rating: Rating): Promise<Rated> {
  const { uid, feedback, tells, atMs, opId } = rating;
  const { header, messages, outbox } = threadKeys(uid);
  const index = String(place - 1);
  const keys =
    tells.length > 0
      ? { header, messages, outbox, unqueued: unqueuedKey(bucketOf(uid)) }
      : { header, messages, outbox: header, unqueued: header };
  for (;;) {
    const entry = textOrNull(await redis.read(messages, "LINDEX", messages, index));
    const message = entry === null ? null : messageFrom(entry, uid);
    if (entry === null || !message || !mayBeRated(message)) return { type: "not-found" };
    const before = message.feedback ?? null;
    if (isSameFeedback(before, feedback)) return { type: "unchanged" };
    const args = {
      op: opId,
      uid,
      atMs: String(atMs),
      place: index,
      before: entry,
      after: messageEntry(withFeedback(message, feedback)),
      tellCount: String(tells.length),
    };
    const [type, tellings] = listOf(await redis.call("rate_message", keys, args, tellEntries(tells)));
    switch (textOf(type)) {
      case "rated":
        return { type: "rated", before, unqueued: refsFrom(tellings) };
      case "not-found":
        return { type: "not-found" };
      case "changed":
    }
  }
}
