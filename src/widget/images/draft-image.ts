import type { MessageImage } from "./message-image.ts";

/** An image in the composer. */
export interface DraftImage extends MessageImage {
  /** The file that it was made of; absent where a message came back from the service. */
  source?: Blob;
}

/** As a message takes it. */
export function withoutSource({ url, name }: DraftImage): MessageImage {
  return name === undefined ? { url } : { url, name };
}
