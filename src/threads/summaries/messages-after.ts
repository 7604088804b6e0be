import { chosenOf } from "../../domain/threads/branches.ts";
import type { Ranges } from "../../domain/threads/branches.ts";
import type { Message } from "../../domain/threads/message.ts";
import type { Store } from "../../store.ts";

/** Messages, and characters of them, that are summarised at once. */
const AT_ONCE = 128;
const CHARS_AT_ONCE = 80_000;

/**
 * The messages after number `after`, up to number `to` at most, as many as are summarised at once. Of a long reply the text
 * that is stored in parts is left out, and what is in other branches (`hidden`). `upTo`: the number up to which these are all; some may have been set aside.
 */
export async function messagesAfter(
  store: Pick<Store, "history">,
  uid: string,
  { after, to, hidden }: { after: number; to: number; hidden: Ranges },
): Promise<{ messages: Message[]; upTo: number }> {
  for (let limit = Math.min(AT_ONCE, to - after); ; limit = Math.ceil(limit / 2)) {
    const upTo = after + limit;
    const page = { limit, before: String(upTo + 1), budgetChars: CHARS_AT_ONCE, all: true as const };
    // A page has the newest of these: if the budget has cut it, fewer are asked for.
    const all = (await store.history(uid, page)).filter(({ id }) => Number(id) > after);
    const isWhole = all.length === 0 || Number(all[0]?.id) === after + 1;
    if (limit > 1 && !isWhole) continue;
    const messages = chosenOf(all, hidden);
    // All of them were set aside, or are in other branches.
    if (messages.length === 0 && upTo < to) return messagesAfter(store, uid, { after: upTo, to, hidden });
    return { messages, upTo };
  }
}
