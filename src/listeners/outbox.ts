import { UNREAD_LIMIT_BYTES } from "../listener.ts";
import { afterTick } from "./tick.ts";

/** Handed to the connection at once; the rest waits here, where it can be counted. */
const SLICE_BYTES = 65_536;
/**
 * The first slice after a stall asks whether the connection has drained. Small: a connection that has not drained keeps
 * what it is handed, and then counts it as unread until it has.
 */
const PROBE_BYTES = 1_024;

type Chunk = string | Uint8Array;

export interface Sink {
  /** Sends what the outbox hands over; false: the connection has not taken all of it, and says so when it can take more. */
  write(frame: Chunk): boolean;
  /** Nothing more will be written. */
  end(): void;
  /** The reader is too slow: close the connection. */
  cutOff(): void;
}

/**
 * What was written to a stream and has not left this process. Chunks of one tick leave as one frame. What one tick
 * writes to a reader that keeps up is always taken; whoever writes to a reader that has more than UNREAD_LIMIT_BYTES
 * unread finds it cut off.
 */
export class Outbox {
  readonly #sink: Sink;
  #chunks: Chunk[] = [];
  #waitingBytes = 0;
  /** Upper bound of what the connection holds: everything handed over since it was last known to be empty. */
  #handedBytes = 0;
  #freshBytes = 0;
  #blocked = false;
  #ending = false;
  #closed = false;
  #flushPlanned = false;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  get unreadBytes(): number {
    return this.#waitingBytes + this.#handedBytes;
  }

  write(chunk: Chunk): void {
    if (this.#closed || this.#ending || chunk.length === 0) return;
    const bytes = typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.byteLength;
    this.#chunks.push(chunk);
    this.#waitingBytes += bytes;
    this.#freshBytes += bytes;
    this.#planFlush();
  }

  end(chunk?: Chunk): void {
    if (chunk !== undefined) this.write(chunk);
    this.#ending = true;
    this.#planFlush();
  }

  /** The connection can take more. */
  writable(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#send(PROBE_BYTES);
  }

  /** The connection is gone: nothing is sent any more. */
  close(): void {
    this.#closed = true;
    this.#chunks = [];
    this.#waitingBytes = 0;
    this.#handedBytes = 0;
  }

  #planFlush(): void {
    if (this.#flushPlanned || this.#closed) return;
    this.#flushPlanned = true;
    afterTick(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushPlanned = false;
    const fresh = this.#freshBytes;
    this.#freshBytes = 0;
    if (this.#closed) return;
    if (this.#blocked) {
      if (fresh === 0 || this.unreadBytes - fresh <= UNREAD_LIMIT_BYTES) return;
      this.close();
      this.#sink.cutOff();
      return;
    }
    this.#send(SLICE_BYTES);
  };

  #send(firstSliceBytes: number): void {
    let sliceBytes = firstSliceBytes;
    while (this.#chunks.length > 0 && !this.#blocked) {
      const frame = this.#take(sliceBytes);
      const bytes = typeof frame === "string" ? Buffer.byteLength(frame) : frame.byteLength;
      this.#waitingBytes -= bytes;
      if (this.#sink.write(frame)) {
        this.#handedBytes = bytes;
      } else {
        this.#handedBytes += bytes;
        this.#blocked = true;
      }
      sliceBytes = SLICE_BYTES;
    }
    if (this.#ending && !this.#blocked && !this.#closed) {
      this.close();
      this.#sink.end();
    }
  }

  /** The next frame: everything that waits, or as much of it as a slice holds. */
  #take(limitBytes: number): Chunk {
    const frame = join(this.#chunks);
    this.#chunks = [];
    if (this.#waitingBytes <= limitBytes) return frame;
    const bytes = typeof frame === "string" ? Buffer.from(frame) : frame;
    this.#chunks.push(bytes.subarray(limitBytes));
    return bytes.subarray(0, limitBytes);
  }
}

function join(chunks: readonly Chunk[]): Chunk {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  if (chunks.every((chunk) => typeof chunk === "string")) return chunks.join("");
  return Buffer.concat(chunks.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)));
}
