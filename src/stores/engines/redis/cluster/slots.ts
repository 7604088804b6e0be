export const SLOTS = 16_384;

/** CRC-16/XMODEM, a byte at a time. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The part between the first braces of a key, which alone decides its slot; the whole key if that part is empty. */
export function hashTagOf(key: string): string {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  return open === -1 || close <= open + 1 ? key : key.slice(open + 1, close);
}

/** The slot of a key in a Redis Cluster. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashTagOf(key))) {
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0);
  }
  return crc % SLOTS;
}
