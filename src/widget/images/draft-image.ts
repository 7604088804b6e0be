import type { MessageImage } from "./message-image.ts";

/** An image in the composer. */
export interface DraftImage extends MessageImage {
  /** The file that it was made from; absent if the service returned the message. */
  source?: Blob;
}

/** The form that a message has. */
export function withoutSource({ url, name }: DraftImage): MessageImage {
  return name === undefined ? { url } : { url, name };
}
