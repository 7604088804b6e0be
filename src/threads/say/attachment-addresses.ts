import { addressesOf, hasKeptImages } from "../../domain/threads/attachments.ts";
import type { Message } from "../../domain/threads/message.ts";
import type { Store } from "../../store.ts";

/**
 * The addresses of a message's attachments, in order, including the images stored beside the thread; null for a lost
 * image.
 */
export async function attachmentAddresses(
  store: Pick<Store, "keptImages">,
  uid: string,
  { runId, attachments = [] }: Pick<Message, "runId" | "attachments">,
): Promise<(string | null)[]> {
  return addressesOf(attachments, hasKeptImages(attachments) ? await store.keptImages(uid, runId) : []);
}
