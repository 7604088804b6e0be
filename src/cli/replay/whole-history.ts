import type { Message } from "../../domain/threads/message.ts";
import type { Store } from "../../store.ts";

/** The longest page of history that the store gives. */
const PAGE = 100;

/** All messages of a thread, oldest first. */
export async function wholeHistory(store: Store, uid: string): Promise<Message[]> {
  const pages: Message[][] = [];
  for (let before: string | null = null; ;) {
    const page: Message[] = await store.history(uid, { limit: PAGE, before });
    pages.unshift(page);
    const oldest = page[0];
    if (page.length < PAGE || oldest === undefined) return pages.flat();
    before = oldest.id;
  }
}
