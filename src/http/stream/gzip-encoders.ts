import zlib from "node:zlib";

/**
 * Two encoders of a live gzip stream: zlib called in this thread (1.2 µs a line), and zlib's own stream (18 µs, through
 * the thread pool) for a Node that does not allow the first.
 */
export interface Encoder {
  /** Passes on the whole chunk, flushed. */
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

/** Passes on the header of the gzip stream at once, or as soon as possible. */
export type MakeEncoder = (target: EncoderTarget) => Encoder;

const { Z_SYNC_FLUSH, Z_FINISH, Z_MIN_CHUNK } = zlib.constants;

/** Small windows and tables: 81 KB per stream instead of 216 KB with zlib's defaults. */
const SETTINGS: zlib.ZlibOptions = { windowBits: 10, memLevel: 2, level: 1 };

/** Node's internal handle on zlib: no public function compresses a part of a stream in this thread. */
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

/** The handle, and the array in which it reports how much room and input are left; null if this Node has none. */
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
/** The shared output buffer of all streams; output is copied out of it. */
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
  // An error after `abort` in the middle of a write: the reader is gone already.
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
