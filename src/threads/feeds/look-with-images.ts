import { hasKeptImages } from "../../domain/threads/attachments.ts";
import type { Message } from "../../domain/threads/message.ts";
import type { Store, ThreadLook } from "../../store.ts";
import { attachmentAddresses } from "../say/attachment-addresses.ts";

/**
 * A look that ends with the first message whose images are stored beside the thread, and includes these: so a feed holds the
 * images of one message at a time, and reads the next ones after these are sent.
 */
export async function lookWithImages(
  store: Pick<Store, "look" | "keptImages">,
  uid: string,
  position: number | null,
): Promise<ThreadLook> {
  const look = await store.look(uid, position);
  const at = look.messages.findIndex(({ attachments }) => hasKeptImages(attachments));
  const last = look.messages[at];
  if (last === undefined) return look;
  const messages = [...look.messages.slice(0, at), await withImages(store, uid, last)];
  // Ids count up from 1 (store/threads.ts).
  return { ...look, messages, to: Number(last.id) };
}

/** Replaces the addresses of stored images by the images; a lost one is left out. */
async function withImages(store: Pick<Store, "keptImages">, uid: string, message: Message): Promise<Message> {
  const addresses = await attachmentAddresses(store, uid, message);
  const attachments = message.attachments?.flatMap((attachment, nth) => {
    const url = addresses[nth] ?? null;
    return url === null ? [] : [{ ...attachment, url }];
  });
  return { ...message, ...(attachments ? { attachments } : {}) };
}
