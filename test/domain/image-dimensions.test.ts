// For src/domain/threads/image-dimensions.ts
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hasTooManyPixels, pixelsOf } from "../../src/domain/threads/image-dimensions.ts";
import { isImageUrl } from "../../src/http/files/image-url.ts";

const ascii = (text: string) => Buffer.from(text, "latin1");
const be16 = (n: number) => Buffer.from([n >> 8, n & 255]);
const le16 = (n: number) => Buffer.from([n & 255, n >> 8]);
const le24 = (n: number) => Buffer.from([n & 255, (n >> 8) & 255, n >> 16]);

function png(width: number, height: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  const data = deflateSync(Buffer.alloc(100));
  return Buffer.concat([ascii("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), size, ascii("\x08\x06\0\0\0"), data]);
}

const gif = (width: number, height: number, more = Buffer.alloc(0)) =>
  Buffer.concat([ascii("GIF89a"), le16(width), le16(height), ascii("\x80\0\0"), Buffer.alloc(6), more]);

const jpeg = (width: number, height: number, marker = 0xc2) =>
  Buffer.concat([
    ascii("\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff"),
    Buffer.from([0xff, marker, 0, 17, 8]),
    be16(height),
    be16(width),
    Buffer.alloc(10),
    ascii("\xff\xda\0\x02"),
  ]);

const webp = (chunk: string, body: Buffer) =>
  Buffer.concat([ascii("RIFF\0\0\0\0WEBP"), ascii(chunk), Buffer.alloc(4), body]);
const bits = (width: number, height: number) => {
  const head = Buffer.alloc(5);
  head.writeUInt8(0x2f, 0);
  head.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  return head;
};

const extended = (width: number, height: number) =>
  webp("VP8X", Buffer.concat([Buffer.alloc(4), le24(width - 1), le24(height - 1)]));
const lossy = (width: number, height: number) =>
  webp("VP8 ", Buffer.concat([ascii("\0\0\0\x9d\x01\x2a"), le16(width), le16(height)]));
const lossless = (width: number, height: number) => webp("VP8L", bits(width, height));

const frame = (width: number, height: number) =>
  Buffer.concat([
    ascii("\x21\xf9\x04\0\0\0\0\0"),
    ascii("\x2c\0\0\0\0"),
    le16(width),
    le16(height),
    ascii("\0"),
  ]);

test.each<[string, (width: number, height: number) => Buffer]>([
  ["png", png],
  ["gif", gif],
  ["gif", (width, height) => gif(1, 1, frame(width, height))],
  ["jpeg", jpeg],
  ["webp", extended],
  ["webp", lossy],
  ["webp", lossless],
])("G5: the dimensions of a %s are read from its head, and bounded", (type, image) => {
  const url = (width: number, height: number) =>
    `data:image/${type};base64,${image(width, height).toString("base64")}`;
  expect(pixelsOf(image(300, 200))).toBe(60_000);
  expect(isImageUrl(url(8_000, 5_000))).toBe(true);
  expect(hasTooManyPixels(url(8_000, 5_000))).toBe(false);
  expect(isImageUrl(url(12_000, 12_000))).toBe(false);
  expect(hasTooManyPixels(url(12_000, 12_000))).toBe(true);
});

test("whatever an image is, reading its head ends", () => {
  const heads = [
    "\x89PNG\r\n\x1a\n",
    "GIF89a",
    "\xff\xd8\xff",
    "RIFF\0\0\0\0WEBPVP8X",
    "RIFF\0\0\0\0WEBPVP8L",
    "",
  ].map(ascii);
  fc.assert(
    fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 200 }), (head, rest) => {
      expect(pixelsOf(Buffer.concat([head, rest]))).toBeGreaterThanOrEqual(0);
    }),
  );
});
