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

/** By call id: the images (data: URLs) of a run's tool results. */
export type ToolImages = ReadonlyMap<string, readonly string[]>;

/** Adds a result's images to those of a run; the oldest are dropped where they are more than a model is shown of a visitor's. */
export function withResultImages(known: ToolImages, callId: string, images: readonly string[]): ToolImages {
  const all = [...known, [callId, images] as const];
  const isTooMuch = () => {
    const urls = all.flatMap(([, some]) => some);
    return urls.length > MOST_IMAGES || urls.reduce((sum, { length }) => sum + length, 0) > MOST_CHARS;
  };
  while (all.length > 1 && isTooMuch()) all.shift();
  return new Map(all);
}
