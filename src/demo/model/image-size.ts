/** The size in an image's header; null if this code cannot read it. */
export interface ImageSize {
  width: number;
  height: number;
}

export function imageSize(type: string, bytes: Buffer): ImageSize | null {
  try {
    return SIZES[type]?.(bytes) ?? null;
  } catch (error) {
    // The file ends in the middle of its header.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const SIZES: Record<string, (bytes: Buffer) => ImageSize | null> = {
  "image/png": (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Finds the first frame header: SOF0 to SOF15, without three of other meanings. Skips the segments before it. */
function jpegSize(bytes: Buffer): ImageSize | null {
  for (let at = 2; at < bytes.length;) {
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    // A fill byte.
    if (marker === 0xff) at += 1;
    else at += 2 + Math.max(bytes.readUInt16BE(at + 2), 2);
  }
  return null;
}

/** The lossy, lossless and extended formats. */
function webpSize(bytes: Buffer): ImageSize | null {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}
