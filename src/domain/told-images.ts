import type { Attachment } from "./attachments.ts";

/**
 * Which messages of a thread come to the model with their images: the one that is answered, and the newest before it, as
 * long as there are no more images than these and no more text of them. Others are told by their names.
 */
const MOST_IMAGES = 8;
const MOST_CHARS = 8_000_000;

interface Said {
  runId: string;
  attachments?: readonly Attachment[];
}

/** Of the run that answers the message, or answered it. */
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
