import { hashOf } from "../../domain/threads/message-claim.ts";
import type { Message } from "../../domain/threads/message.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";
import type { SaidMessage } from "./chat-body.ts";

/** What a client wants that sends a message again, or one with the id of an earlier message and other words. */
export type Again =
  /** It was never said, or its reply is in progress; `clientMessageId`: the one under which it was said. */
  | { type: "say"; clientMessageId: string }
  /** Its reply is over: another one is wanted in the place of this item. */
  | { type: "answer again"; messageId: string }
  /** Another reply is in progress. */
  | { type: "follow"; runId: string }
  /** It has other words: a branch begins in the place of this item. */
  | { type: "replace"; replaces: string; clientMessageId: string };

/** Messages back from the last one, among which the one that is meant is looked for. */
const LOOKED_THROUGH = 100;

/**
 * The client keeps a message's id when its words change, and an id belongs to one text: what was edited has that id with
 * its text's hash behind it. Refusal("conflict"): the message is in another branch, or further back than is looked for.
 */
export async function saidAgain(
  store: Pick<Store, "claimed" | "run" | "history" | "load">,
  uid: string,
  { message: { clientMessageId: own, text } }: SaidMessage,
): Promise<Again> {
  const items = await store.history(uid, { limit: LOOKED_THROUGH, before: null, budgetChars: 1_000_000 });
  const isMeant = ({ role, clientMessageId: id }: Message) =>
    role === "user" && (id === own || (id?.startsWith(`${own}~`) ?? false));
  const asked = items.findLast(isMeant);
  if (!asked) {
    if (await store.claimed(uid, own).then((claim) => claim && hasEnded(claim.runId)))
      throw new Refusal("conflict");
    return { type: "say", clientMessageId: own };
  }
  if (asked.content !== text)
    return { type: "replace", replaces: asked.id, clientMessageId: `${own}~${hashOf(text).slice(0, 12)}` };
  const reply = items.findLast(
    ({ role, runId, answers }) => role === "assistant" && (answers === asked.id || runId === asked.runId),
  );
  if (reply) return { type: "answer again", messageId: reply.id };
  if (!(await hasEnded(asked.runId))) return { type: "say", clientMessageId: asked.clientMessageId ?? own };
  const active = (await store.load(uid, 1, "active"))?.run;
  if (active?.again?.answers !== asked.id) throw new Refusal("conflict");
  return { type: "follow", runId: active.runId };

  async function hasEnded(runId: string): Promise<boolean> {
    return Boolean((await store.run(uid, runId))?.outcome);
  }
}
