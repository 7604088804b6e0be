/**
 * The most that a browser should unfold to draw an image: 40 megapixels are 160 MB of memory. A PNG of 17 KB may have four
 * times as many.
 */
export const MAX_PIXELS = 40_000_000;

/** Does a data: URL hold an image of more pixels than MAX_PIXELS? One whose head cannot be read is not drawn either. */
export function hasTooManyPixels(url: string): boolean {
  const comma = url.indexOf(",");
  const { atob } = globalThis;
  try {
    const text = atob(url.slice(comma + 1));
    return pixelsOf(Uint8Array.from(text, (character) => character.charCodeAt(0))) > MAX_PIXELS;
  } catch {
    return false;
  }
}

/**
 * Width times height of a PNG, JPEG, WebP or GIF, as its head tells them; 0 if it is none of them, or broken.
 * PNG: https://www.w3.org/TR/png-3/#11IHDR, GIF: https://www.w3.org/Graphics/GIF/spec-gif89a.txt,
 * WebP: https://developers.google.com/speed/webp/docs/riff_container, JPEG: ITU-T T.81, B.2.2.
 */
export function pixelsOf(bytes: Uint8Array): number {
  const head = String.fromCharCode(...bytes.subarray(0, 16));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (head.startsWith("\x89PNG\r\n\x1a\n")) return view.getUint32(16) * view.getUint32(20);
    if (head.startsWith("GIF8")) return gifPixels(view);
    if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return webpPixels(view, head.slice(12));
    if (head.startsWith("\xff\xd8\xff")) return jpegPixels(view);
  } catch (error) {
    // It ends before its size is told.
    if (!(error instanceof RangeError)) throw error;
  }
  return 0;
}

/** The screen, or the first image if that is larger. */
function gifPixels(view: DataView): number {
  const screen = view.getUint16(6, true) * view.getUint16(8, true);
  const flags = view.getUint8(10);
  let at = 13 + ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1));
  while (at < view.byteLength && view.getUint8(at) === 0x21) {
    // An extension: blocks, each after its length, up to an empty one.
    at += 2;
    while (at < view.byteLength && view.getUint8(at) > 0) at += 1 + view.getUint8(at);
    at += 1;
  }
  if (at + 9 > view.byteLength || view.getUint8(at) !== 0x2c) return screen;
  return Math.max(screen, view.getUint16(at + 5, true) * view.getUint16(at + 7, true));
}

function webpPixels(view: DataView, chunk: string): number {
  const uint24 = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x1_00_00;
  if (chunk === "VP8X") return (uint24(24) + 1) * (uint24(27) + 1);
  if (chunk === "VP8 ") return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff);
  const bits = view.getUint32(21, true);
  return chunk === "VP8L" ? ((bits & 0x3fff) + 1) * (((bits >>> 14) & 0x3fff) + 1) : 0;
}

/** The largest of its frame headers: segments, each after a marker and its length. */
function jpegPixels(view: DataView): number {
  let pixels = 0;
  for (let at = 2; at + 4 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return pixels;
    const marker = view.getUint8(at + 1);
    // Fill bytes, and markers that stand alone.
    if (marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    // The scan: no header of a frame comes after it.
    if (marker === 0xda || marker === 0xd9) return pixels;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) pixels = Math.max(pixels, view.getUint16(at + 5) * view.getUint16(at + 7));
    at += 2 + view.getUint16(at + 2);
  }
  return pixels;
}
