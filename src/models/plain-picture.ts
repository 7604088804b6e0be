import { crc32, deflateSync } from "node:zlib";

/** Models refuse pictures of only a few pixels, and charge for large ones. */
const SIDE_PX = 64;

/** A PNG of one colour, as a data: URL. */
export function plainPicture(colour: readonly [red: number, green: number, blue: number]): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE_PX, 0);
  header.writeUInt32BE(SIDE_PX, 4);
  // Eight bits for each of red, green, blue.
  header.set([8, 2], 8);
  // Each row begins with its filter: none.
  const row = [0, ...Array.from({ length: SIDE_PX }, () => colour).flat()];
  const rows = Buffer.from(Array.from({ length: SIDE_PX }, () => row).flat());
  const file = Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return `data:image/png;base64,${file.toString("base64")}`;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
