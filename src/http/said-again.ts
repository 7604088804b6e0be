import { hashOf } from "../domain/threads/message-claim.ts";
import type { Message } from "../domain/threads/message.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Store } from "../store.ts";
import type { Reply } from "../threads/hold/reply.ts";
import type { Threads } from "../threads/threads.ts";
import type { VisitorAsked, VisitorMessage, VisitorMessages } from "./widget-api/visitor-message.ts";

/**
 * A message that a front end's client sends again, to have it answered once more, or under the id of an earlier message with
 * other words. What was never said is said, a reply in progress is shown, in place of a finished one comes another, and other
 * words replace the earlier ones: a branch begins. Refusal("conflict"): the message is in another branch, or further back
 * than is looked for.
 */
export type SayAgain = (
  asked: VisitorAsked,
  message: VisitorMessage & { clientMessageId: string },
) => Promise<Reply>;

/** Messages back from the last one, among which the one that is meant is looked for. */
const LOOKED_THROUGH = 100;
const LOOKED_THROUGH_CHARS = 1_000_000;

export function createSayAgain({
  messages,
  threads,
  store,
}: {
  messages: Pick<VisitorMessages, "say" | "answerAgain">;
  threads: Pick<Threads, "followRun">;
  store: Pick<Store, "claimed" | "run" | "history" | "load">;
}): SayAgain {
  const hasEnded = async (uid: string, runId: string) => Boolean((await store.run(uid, runId))?.outcome);

  return async (asked, message) => {
    const { uid } = asked.thread;
    const { clientMessageId: own, text, page, customerContext, locale } = message;
    const items = await store.history(uid, {
      limit: LOOKED_THROUGH,
      before: null,
      budgetChars: LOOKED_THROUGH_CHARS,
    });
    const meant = items.findLast((item) => isUnder(own, item));
    if (!meant) {
      const claim = await store.claimed(uid, own);
      if (claim && (await hasEnded(uid, claim.runId))) throw new Refusal("conflict");
      return messages.say(asked, message);
    }
    if (meant.content !== text)
      return messages.say(asked, { ...message, clientMessageId: editedId(own, text), replaces: meant.id });
    const reply = items.findLast((item) => isReplyTo(meant, item));
    if (reply) return messages.answerAgain(asked, { messageId: reply.id, page, customerContext, locale });
    if (!(await hasEnded(uid, meant.runId)))
      return messages.say(asked, { ...message, clientMessageId: meant.clientMessageId ?? own });
    const active = (await store.load(uid, 1, "active"))?.run;
    const another = active?.again?.answers === meant.id ? await threads.followRun(uid, active.runId) : null;
    if (!another) throw new Refusal("conflict");
    return another;
  };
}

/** A client keeps a message's id when its words change, and an id belongs to one text: a hash of the new one makes it another. */
const editedId = (own: string, text: string) => `${own}~${hashOf(text).slice(0, 12)}`;

function isUnder(own: string, { role, clientMessageId: id }: Message): boolean {
  return role === "user" && (id === own || (id?.startsWith(`${own}~`) ?? false));
}

function isReplyTo(asked: Message, { role, runId, answers }: Message): boolean {
  return role === "assistant" && (answers === asked.id || runId === asked.runId);
}
