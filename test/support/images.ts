import { crc32, deflateSync } from "node:zlib";

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

/** A PNG of these colours, RGB; each row with another filter, as encoders choose them. */
export function pngOf(
  width: number,
  height: number,
  colourAt: (x: number, y: number) => readonly number[],
): string {
  const rows = Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => [...colourAt(x, y)]).flat(),
  );
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const filtered = rows.map((row, y) => [y % 5, ...row.map((byte, at) => filteredByte(rows, y, at, byte))]);
  const data = deflateSync(Buffer.from(filtered.flat()));
  const head = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const file = [head, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))];
  return `data:image/png;base64,${base64(Buffer.concat(file))}`;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(8);
  framed.writeUInt32BE(data.length, 0);
  framed.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([framed.subarray(0, 4), named, framed.subarray(4)]);
}

/** The filters of the PNG standard, written the way an encoder does. */
function filteredByte(rows: readonly number[][], y: number, at: number, byte: number): number {
  const left = at >= 3 ? (rows[y]?.[at - 3] ?? 0) : 0;
  const above = rows[y - 1]?.[at] ?? 0;
  const corner = at >= 3 ? (rows[y - 1]?.[at - 3] ?? 0) : 0;
  const nearest = [left, above, corner]
    .map((each, order) => ({ each, order, far: Math.abs(left + above - corner - each) }))
    .sort((a, b) => a.far - b.far || a.order - b.order)[0];
  const told = [0, left, above, Math.floor((left + above) / 2), nearest?.each ?? 0][y % 5] ?? 0;
  return (byte - told + 256) % 256;
}
