/** An image of a visitor's message: itself (data:), or its address (https:). */
export interface MessageImage {
  url: string;
  name?: string;
}

/** What the service accepts with a message (its domain/threads/attachments.ts). */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
export const MAX_IMAGES = 4;

/** An `img` never gets any other URL from outside. */
const ADDRESS = /^(?:data:image\/(?:png|jpeg|webp|gif);base64,|https:\/\/)/;

export function isMessageImage(value: unknown): value is MessageImage {
  if (typeof value !== "object" || value === null) return false;
  const { url, name = "" }: { url?: unknown; name?: unknown } = value;
  return typeof url === "string" && ADDRESS.test(url) && typeof name === "string";
}

/** The images among the attachments of a message from outside; undefined if it has none. */
export function imagesOf(attachments: unknown): MessageImage[] | undefined {
  const images = Array.isArray(attachments) ? attachments.filter(isMessageImage) : [];
  return images.length > 0 ? images : undefined;
}
