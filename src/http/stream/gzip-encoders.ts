import zlib from "node:zlib";

/**
 * Three ways to a live gzip stream: zlib called in this thread (1.2 µs a line), zlib's own stream where that is not to
 * be had (18 µs, a trip through the thread pool), and stored blocks, which compress nothing and hold nothing.
 */
export interface Encoder {
  /** Passes on all of the chunk, flushed. */
  write(chunk: Uint8Array): void;
  /** Passes on the end of the stream, frees its memory, and calls `finish`. */
  end(): void;
  /** Frees its memory; passes on nothing more. */
  abort(): void;
}

export interface EncoderTarget {
  pass(bytes: Uint8Array): void;
  finish(): void;
}

/** Passes on the header of the gzip stream at once, or as soon as it can. */
export type MakeEncoder = (target: EncoderTarget) => Encoder;

const { Z_SYNC_FLUSH, Z_FINISH, Z_MIN_CHUNK } = zlib.constants;

/** Small windows and tables: 81 KB a stream where zlib's defaults take 216 KB. */
const SETTINGS: zlib.ZlibOptions = { windowBits: 10, memLevel: 2, level: 1 };

/** Node's own handle on zlib: no public call compresses a part of a stream in this thread. */
interface SyncHandle {
  writeSync(
    flush: number,
    input: Uint8Array,
    inputAt: number,
    inputBytes: number,
    output: Uint8Array,
    outputAt: number,
    outputBytes: number,
  ): void;
}

/** The handle, and the array in which it reports what room and input are left; null if this Node has none. */
function syncHandleOf(gzip: zlib.Gzip): { handle: SyncHandle; left: Uint32Array } | null {
  const handle: unknown = Reflect.get(gzip, "_handle");
  const left: unknown = Reflect.get(gzip, "_writeState");
  return isSyncHandle(handle) && left instanceof Uint32Array ? { handle, left } : null;
}

function isSyncHandle(value: unknown): value is SyncHandle {
  return (
    typeof value === "object" &&
    value !== null &&
    "writeSync" in value &&
    typeof value.writeSync === "function"
  );
}

const NOTHING = new Uint8Array(0);
/** Every stream's output passes through here, and is copied out of it. */
const room = Buffer.alloc(65_536);

/** null if this Node does not have the handle. */
export function encodeInThread(target: EncoderTarget): Encoder | null {
  // The smallest chunk: the stream's own buffer is not used.
  const gzip = zlib.createGzip({ ...SETTINGS, chunkSize: Z_MIN_CHUNK });
  const sync = syncHandleOf(gzip);
  if (!sync) {
    gzip.destroy();
    return null;
  }
  const { handle, left } = sync;

  const send = (flush: number, input: Uint8Array): void => {
    let inputAt = 0;
    let full = true;
    while (full) {
      handle.writeSync(flush, input, inputAt, input.byteLength - inputAt, room, 0, room.byteLength);
      const [roomLeft = 0, inputLeft = 0] = left;
      inputAt = input.byteLength - inputLeft;
      if (roomLeft < room.byteLength) target.pass(Buffer.from(room.subarray(0, room.byteLength - roomLeft)));
      full = roomLeft === 0;
    }
  };

  send(Z_SYNC_FLUSH, NOTHING);
  return {
    write: (chunk) => send(Z_SYNC_FLUSH, chunk),
    end() {
      send(Z_FINISH, NOTHING);
      gzip.close();
      target.finish();
    },
    abort: () => gzip.close(),
  };
}

export function encodeInPool(target: EncoderTarget): Encoder {
  const gzip = zlib.createGzip({ ...SETTINGS, flush: Z_SYNC_FLUSH });
  gzip.on("data", (bytes: Buffer) => target.pass(bytes));
  gzip.once("end", () => target.finish());
  // After `abort` in the middle of a write: the reader is gone already.
  gzip.on("error", () => gzip.destroy());
  gzip.flush(Z_SYNC_FLUSH);
  return {
    write: (chunk) => void gzip.write(chunk),
    end: () => void gzip.end(),
    abort: () => void gzip.destroy(),
  };
}

export function encodeWithZlib(target: EncoderTarget): Encoder {
  return encodeInThread(target) ?? encodeInPool(target);
}

/** RFC 1952: magic, deflate, no flags, no time, no extra flags, unknown system. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
const STORED_MAX_BYTES = 65_535;

export function encodeStored(target: EncoderTarget): Encoder {
  let crc = 0;
  let bytes = 0;
  target.pass(GZIP_HEADER);
  return {
    write(chunk) {
      crc = zlib.crc32(chunk, crc);
      // The trailer counts modulo 2³².
      bytes = (bytes + chunk.byteLength) >>> 0;
      for (let at = 0; at < chunk.byteLength; at += STORED_MAX_BYTES) {
        target.pass(storedBlock(chunk.subarray(at, at + STORED_MAX_BYTES), false));
      }
    },
    end() {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(crc, 0);
      trailer.writeUInt32LE(bytes, 4);
      target.pass(Buffer.concat([storedBlock(NOTHING, true), trailer]));
      target.finish();
    },
    abort() {},
  };
}

/** RFC 1951, 3.2.4: a flag, the length and its complement, the bytes. */
function storedBlock(data: Uint8Array, isLast: boolean): Buffer {
  const block = Buffer.alloc(5 + data.byteLength);
  block[0] = isLast ? 1 : 0;
  block.writeUInt16LE(data.byteLength, 1);
  block.writeUInt16LE(~data.byteLength & 0xffff, 3);
  block.set(data, 5);
  return block;
}
