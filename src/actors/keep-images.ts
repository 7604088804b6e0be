import { StoreUnavailable } from "../store.ts";
import type { Store } from "../store.ts";
import { refuseDeleted } from "./deleted.ts";
import type { Reply } from "./reply.ts";

/** A message with images, and how it is said. */
export interface MessageWithImages {
  uid: string;
  slug: string;
  /** Its own: a repeat gets another's reply. */
  runId: string;
  images: readonly string[];
  say: () => Promise<Reply>;
}

/** Keeps images before their message is stored: no process may find the message and not its images. */
export async function sayWithImages(
  store: Pick<Store, "keepImages" | "dropImages">,
  { uid, slug, runId, images, say }: MessageWithImages,
): Promise<Reply> {
  if (!(await store.keepImages({ uid, slug, runId, images }))) throw refuseDeleted();
  // The message was not stored: they would be nobody's.
  const drop = () => store.dropImages(uid, runId);
  try {
    const reply = await say();
    if (reply.runId !== runId) await drop();
    return reply;
  } catch (error) {
    // An outage leaves open whether it was stored.
    if (!(error instanceof StoreUnavailable)) await drop();
    throw error;
  }
}
