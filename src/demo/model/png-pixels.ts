import { inflateSync } from "node:zlib";

/** Red, green, blue, opacity: each 0 to 255. */
export type Pixel = readonly [number, number, number, number];

/** Limit of the unpacked picture: a small file may unpack to a huge one. */
const MAX_BYTES = 16_777_216;

/** Bytes per pixel by colour type: grey, colour, palette, grey with opacity, colour with opacity. */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/**
 * Some pixels of a PNG, evenly spread. null for formats that this small decoder does not read (16 bits, less than 8,
 * interlaced), for a picture that is too large, and for a file that is not a PNG.
 */
export function pngPixels(file: Buffer, most: number): Pixel[] | null {
  try {
    return pixelsOf(file, most);
  } catch {
    // Cut or damaged: zlib, and reads past the end, throw several kinds of errors, which all mean that.
    return null;
  }
}

function pixelsOf(file: Buffer, most: number): Pixel[] | null {
  const { header, palette, packed } = chunksOf(file);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, colourType, interlaced] = [header[8], header[9] ?? -1, header[12]];
  const channels = CHANNELS[colourType];
  if (channels === undefined || depth !== 8 || interlaced !== 0) return null;
  const stride = width * channels;
  if ((stride + 1) * height > MAX_BYTES) return null;
  const rows = unfiltered(inflateSync(packed, { maxOutputLength: MAX_BYTES }), { stride, height, channels });
  const step = Math.max(1, Math.floor((width * height) / most));
  const pixels: Pixel[] = [];
  for (let nth = 0; nth < width * height; nth += step)
    pixels.push(pixelAt(rows, nth * channels, colourType, palette));
  return pixels;
}

function chunksOf(file: Buffer): { header: Buffer; palette: Buffer; packed: Buffer } {
  const found = new Map<string, Buffer[]>();
  for (let at = 8; at + 8 <= file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    found.set(type, [...(found.get(type) ?? []), file.subarray(at + 8, at + 8 + length)]);
    at += length + 12;
  }
  const joined = (type: string) => Buffer.concat(found.get(type) ?? []);
  return { header: joined("IHDR"), palette: joined("PLTE"), packed: joined("IDAT") };
}

/** Undoes the rows' filters (PNG, section 9): each byte is stored relative to the bytes left of it and above it. */
function unfiltered(
  data: Buffer,
  { stride, height, channels }: { stride: number; height: number; channels: number },
): Buffer {
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = data.readUInt8(y * (stride + 1));
    for (let x = 0; x < stride; x++) {
      const left = x >= channels ? (rows[y * stride + x - channels] ?? 0) : 0;
      const above = y > 0 ? (rows[(y - 1) * stride + x] ?? 0) : 0;
      const corner = y > 0 && x >= channels ? (rows[(y - 1) * stride + x - channels] ?? 0) : 0;
      const told = data.readUInt8(y * (stride + 1) + 1 + x);
      rows[y * stride + x] = (told + predicted(filter, left, above, corner)) & 0xff;
    }
  }
  return rows;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const toLeft = Math.abs(above - corner);
      const toAbove = Math.abs(left - corner);
      const toCorner = Math.abs(left + above - 2 * corner);
      if (toLeft <= toAbove && toLeft <= toCorner) return left;
      return toAbove <= toCorner ? above : corner;
    }
    default:
      return 0;
  }
}

function pixelAt(rows: Buffer, at: number, colourType: number, palette: Buffer): Pixel {
  const byte = (offset: number) => rows[at + offset] ?? 0;
  switch (colourType) {
    case 0:
      return [byte(0), byte(0), byte(0), 255];
    case 3: {
      const entry = byte(0) * 3;
      return [palette[entry] ?? 0, palette[entry + 1] ?? 0, palette[entry + 2] ?? 0, 255];
    }
    case 4:
      return [byte(0), byte(0), byte(0), byte(1)];
    default:
      return [byte(0), byte(1), byte(2), colourType === 6 ? byte(3) : 255];
  }
}
