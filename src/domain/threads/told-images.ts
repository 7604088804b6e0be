import type { Attachment } from "./attachments.ts";

/**
 * Selects the messages whose images the model sees: the one that is answered, and the newest before it, up to these limits
 * of images and of their text. Of other images the model gets the names.
 */
const MOST_IMAGES = 8;
const MOST_CHARS = 8_000_000;

interface Said {
  runId: string;
  attachments?: readonly Attachment[];
}

/** The run ids of these messages. */
export function runsWithImages(answered: Said, before: readonly Said[]): Set<string> {
  const told = new Set<string>();
  let [images, chars] = [0, 0];
  for (const { runId, attachments = [] } of [answered, ...before.toReversed()]) {
    if (attachments.length === 0) continue;
    images += attachments.length;
    chars += attachments.reduce((sum, attachment) => sum + (attachment.chars ?? 0), 0);
    if (told.size > 0 && (images > MOST_IMAGES || chars > MOST_CHARS)) break;
    told.add(runId);
  }
  return told;
}
