const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/** A whole PNG of one pixel. */
export const TINY_PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What begins as such an image, and goes on with anything: so many bytes in all. */
export function imageOf(type: "png" | "jpeg" | "gif" | "webp", bytes = 64): string {
  const heads = {
    png: "\x89PNG\r\n\x1a\n",
    jpeg: "\xff\xd8\xff\xe0",
    gif: "GIF89a",
    webp: "RIFF\0\0\0\0WEBP",
  };
  const image = Buffer.alloc(bytes, 7);
  image.write(heads[type], "latin1");
  return `data:image/${type};base64,${base64(image)}`;
}
