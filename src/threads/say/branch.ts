import type { Again } from "../../domain/threads/message.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";

/** How many items before a reply are looked through for the message that it answers. */
const LOOKED_THROUGH = 50;
const LOOKED_THROUGH_CHARS = 1_000_000;

type Reads = Pick<Store, "history">;

/** Refusal("not-found") unless this is a user's item of the chosen branch: only there is it known what came before it. */
export async function mustBeUsers(store: Reads, uid: string, messageId: string): Promise<void> {
  const [item] = await itemsTo(store, uid, messageId, 1);
  if (item?.role !== "user") throw new Refusal("not-found");
}

/**
 * What is answered again in place of this reply. Refusal("not-found") unless it is a reply of the chosen branch, of the
 * assistant, to a message: nobody has asked for what the service said of its own accord.
 */
export async function answeredBy(store: Reads, uid: string, messageId: string): Promise<Again> {
  const items = await itemsTo(store, uid, messageId, LOOKED_THROUGH);
  const reply = items.pop();
  const asked = items.findLast(({ role }) => role === "user");
  const isReply = reply?.role === "assistant" && !reply.author;
  const answers = reply?.answers ?? (asked?.runId === reply?.runId ? asked?.id : undefined);
  if (!isReply || answers === undefined) throw new Refusal("not-found");
  return { replaces: messageId, answers };
}

/** The items of the chosen branch up to this one, oldest first; none if it is not one of them. */
async function itemsTo(store: Reads, uid: string, messageId: string, limit: number) {
  const number = /^[1-9][0-9]{0,14}$/.test(messageId) ? Number(messageId) : 0;
  if (number === 0) return [];
  // Only who said what is looked at: no text in parts is read for that.
  const page = { limit, budgetChars: LOOKED_THROUGH_CHARS };
  const next = await store.history(uid, { ...page, before: String(number + 1) });
  const items = next.length > 0 ? next : await store.history(uid, { ...page, before: null });
  return items.at(-1)?.id === messageId ? items : [];
}
