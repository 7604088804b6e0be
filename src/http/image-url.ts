import { declaredType } from "../domain/threads/attachments.ts";
import { isClosedUrl } from "../domain/public-address.ts";
import type { ImageType } from "../domain/threads/attachments.ts";
import { MAX_PIXELS, pixelsOf } from "../domain/threads/image-dimensions.ts";

const MAX_ADDRESS_CHARS = 2_048;

/**
 * May a message have this image: data of an allowed type that is what it claims to be, or a public https address? The model's
 * server fetches it: a visitor's address must not lead into its network. A name is looked up there and not here.
 */
export function isImageUrl(url: string): boolean {
  if (/^data:/i.test(url)) return isImageData(url);
  if (url.length > MAX_ADDRESS_CHARS || !/^https:\/\/[^/][\x21-\x7e]*$/i.test(url) || !URL.canParse(url))
    return false;
  const { username, password, hostname } = new URL(url);
  return username === "" && password === "" && hostname !== "" && !isClosedUrl(url);
}

/** A data: URL in canonical base64 whose bytes begin like a file of its type, and of no more pixels than a browser should draw. */
function isImageData(url: string): boolean {
  const type = declaredType(url);
  if (type === null) return false;
  const base64 = url.slice(url.indexOf(",") + 1);
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 && beginsAs(type, bytes) && pixelsOf(bytes) <= MAX_PIXELS;
}

function beginsAs(type: ImageType, bytes: Buffer): boolean {
  const says = (from: number, text: string) => bytes.toString("latin1", from, from + text.length) === text;
  switch (type) {
    case "image/png":
      return says(0, "\x89PNG\r\n\x1a\n");
    case "image/jpeg":
      return says(0, "\xff\xd8\xff");
    case "image/gif":
      return says(0, "GIF87a") || says(0, "GIF89a");
    case "image/webp":
      return says(0, "RIFF") && says(8, "WEBP");
  }
}
