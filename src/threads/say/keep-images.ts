import { StoreUnavailable } from "../../store.ts";
import type { Store } from "../../store.ts";
import { refuseDeleted } from "../delete/deleted.ts";
import type { Reply } from "../hold/reply.ts";

/** A message with images, and the function that stores it and begins its run. */
export interface MessageWithImages {
  uid: string;
  slug: string;
  /** This message's own run: a repeat of an earlier message gets the reply of that message's run. */
  runId: string;
  images: readonly string[];
  say: () => Promise<Reply>;
}

/** Stores images before their message, so that no process finds the message without them. */
export async function sayWithImages(
  store: Pick<Store, "keepImages" | "dropImages">,
  { uid, slug, runId, images, say }: MessageWithImages,
): Promise<Reply> {
  if (!(await store.keepImages({ uid, slug, runId, images }))) throw refuseDeleted();
  // For a message that was not stored: nothing would name its images.
  const drop = () => store.dropImages(uid, runId);
  try {
    const reply = await say();
    if (reply.runId !== runId) await drop();
    return reply;
  } catch (error) {
    // After an outage the message may have been stored.
    if (!(error instanceof StoreUnavailable)) await drop();
    throw error;
  }
}
