import { addressesOf, hasKeptImages } from "../domain/attachments.ts";
import type { Message } from "../domain/message.ts";
import type { HistoryPage, Store } from "../store.ts";

/** A message of the history with the addresses of its attachments, in order; null for one that is lost. */
export interface WholeMessage extends Message {
  addresses?: (string | null)[];
}

/** A page of the history, with the images that are kept beside the thread. */
export async function wholeHistory(
  store: Pick<Store, "history" | "keptImages">,
  uid: string,
  page: HistoryPage,
): Promise<WholeMessage[]> {
  const messages = await store.history(uid, page);
  // Hardly any thread has one: the others wait for nothing.
  if (!messages.some(({ attachments }) => attachments)) return messages;
  return Promise.all(
    messages.map(async (message) => {
      const { runId, attachments } = message;
      if (!attachments) return message;
      const images = hasKeptImages(attachments) ? await store.keptImages(uid, runId) : [];
      return { ...message, addresses: addressesOf(attachments, images) };
    }),
  );
}
