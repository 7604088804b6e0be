import { UNREAD_LIMIT_BYTES } from "../listener.ts";
import { afterTick } from "./tick.ts";
import { countUnread } from "./unread.ts";

/** At most this much is passed to the connection at once; the rest waits here, where it can be counted. */
const SLICE_BYTES = 65_536;
/**
 * The first slice after a stall tests whether the connection has drained. It is small, because a connection that has not
 * drained keeps it, and it counts as unread until then.
 */
const PROBE_BYTES = 1_024;

type Chunk = string | Uint8Array;

export interface Sink {
  /** Sends a frame. False: the connection has not taken all of it, and will report when it can take more. */
  write(frame: Chunk): boolean;
  /** Ends the body. */
  end(): void;
  /** The reader is too slow: close the connection. */
  cutOff(): void;
  /** Runs the work at once; its writes leave together. */
  corked(work: () => void): void;
}

/**
 * The bytes that were written to a stream and have not left this process. Chunks of one tick leave as one frame. One tick
 * may write any amount to a reader that keeps up; a write to one with more than UNREAD_LIMIT_BYTES unread disconnects it.
 */
export class SendBuffer {
  readonly #sink: Sink;
  #chunks: Chunk[] = [];
  #waitingBytes = 0;
  /** Upper bound of the bytes in the connection: all that were passed on since it was last known to be empty. */
  #passedBytes = 0;
  #freshBytes = 0;
  #blocked = false;
  /** The connection can take more after a stall: the next slice tests whether it has drained. */
  #probes = false;
  #ending = false;
  #closed = false;
  #flushPlanned = false;
  #drained: (() => void)[] = [];
  #pull: (() => void) | null = null;
  /** The part of `unreadBytes` that the process's total includes. */
  #counted = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  get unreadBytes(): number {
    return this.#waitingBytes + this.#passedBytes;
  }

  write(chunk: Chunk): void {
    if (this.#add(chunk)) this.#planFlush();
  }

  /** For the end of a tick: what is written then would otherwise take a turn of the event loop of its own. */
  writeNow(chunk: Chunk): void {
    if (this.#add(chunk)) this.#flush();
  }

  /** False: nothing is to be sent. */
  #add(chunk: Chunk): boolean {
    if (this.#closed || this.#ending || chunk.length === 0) return false;
    const bytes = typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.byteLength;
    this.#chunks.push(chunk);
    this.#waitingBytes += bytes;
    this.#freshBytes += bytes;
    this.#count();
    return true;
  }

  /** Calls `next` whenever nothing waits here any more; the connection then holds at most a slice. */
  pull(next: () => void): void {
    this.#pull = next;
    if (!this.#closed) next();
  }

  end(chunk?: Chunk): void {
    if (chunk !== undefined) this.write(chunk);
    this.#ending = true;
    this.#planFlush();
  }

  /** Calls back once everything written so far has been passed to the connection. */
  onDrained(callback: () => void): void {
    if (this.#closed) return;
    this.#drained.push(callback);
    this.#planFlush();
  }

  /** The connection can take more. */
  writable(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#probes = true;
    this.#send();
  }

  /** The connection is gone: sends nothing any more. */
  close(): void {
    this.#closed = true;
    this.#drained = [];
    this.#chunks = [];
    this.#waitingBytes = 0;
    this.#passedBytes = 0;
    this.#pull = null;
    this.#count();
  }

  #count(): void {
    countUnread(this.unreadBytes - this.#counted);
    this.#counted = this.unreadBytes;
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
    // The last lines and the end leave together.
    if (this.#ending) this.#sink.corked(this.#send);
    else this.#send();
  };

  readonly #send = (): void => {
    while (this.#chunks.length > 0 && !this.#blocked) {
      const frame = this.#take(this.#probes ? PROBE_BYTES : SLICE_BYTES);
      this.#probes = false;
      const bytes = typeof frame === "string" ? Buffer.byteLength(frame) : frame.byteLength;
      this.#waitingBytes -= bytes;
      if (this.#sink.write(frame)) {
        this.#passedBytes = bytes;
      } else {
        this.#passedBytes += bytes;
        this.#blocked = true;
      }
    }
    this.#count();
    if (this.#chunks.length === 0 && !this.#ending) this.#pull?.();
    if (this.#blocked || this.#closed) return;
    if (this.#ending) {
      this.close();
      return this.#sink.end();
    }
    // `#pull` may have written more.
    if (this.#chunks.length > 0) return;
    const drained = this.#drained;
    this.#drained = [];
    for (const callback of drained) callback();
  };

  /** The next frame: everything that waits, up to a slice. */
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
