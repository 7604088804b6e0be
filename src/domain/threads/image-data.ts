import { declaredType } from "./attachments.ts";
import type { ImageType } from "./attachments.ts";
import { MAX_PIXELS, pixelsOf } from "./image-dimensions.ts";

/** A data: URL in canonical base64 whose bytes begin like a file of its type, and of no more pixels than a browser should draw. */
export function isImageData(url: string): boolean {
  const type = declaredType(url);
  if (type === null) return false;
  const base64 = url.slice(url.indexOf(",") + 1);
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 && beginsAs(type, bytes) && pixelsOf(bytes) <= MAX_PIXELS;
}

/** Do the bytes begin like a file of this type? */
export function beginsAs(type: ImageType, bytes: Buffer): boolean {
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
