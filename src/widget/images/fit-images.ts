import type { DraftImage } from "./draft-image.ts";
import { encodeImage } from "./encode-image.ts";

/** A newly chosen file, which has no `url` yet, or an image that is already in the composer. */
type Chosen = Partial<DraftImage>;

/**
 * Encodes images so that all of them together have at most `maxChars` characters as data: URLs. They share the room: what
 * a small one leaves goes to the larger ones. null: they do not fit. Those that the browser cannot read are left out.
 */
export async function fitImages(chosen: readonly Chosen[], maxChars: number): Promise<DraftImage[] | null> {
  const smallestFirst = [...chosen].sort((one, other) => sizeOf(one) - sizeOf(other));
  const fitted = new Map<Chosen, DraftImage>();
  let room = maxChars;
  let seen = 0;
  for (const image of smallestFirst) {
    const share = room / (chosen.length - seen);
    seen += 1;
    // An image without its file was returned by the service, and is already encoded.
    const url = image.source === undefined ? image.url : await encodeImage(image.source, share).catch(warn);
    if (url === undefined) continue;
    if (url === null || url.length > room) return null;
    room -= url.length;
    fitted.set(image, { ...image, url });
  }
  return chosen.flatMap((image) => fitted.get(image) ?? []);
}

function warn(error: unknown): undefined {
  console.warn("chat-agent: the browser cannot read an image:", error);
}

function sizeOf({ source, url = "" }: Chosen): number {
  return source?.size ?? url.length;
}
