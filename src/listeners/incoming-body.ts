import { Refusal } from "../domain/refusal.ts";
import { RequestGone } from "../listener.ts";

/** If more than this arrives before the handler reads it, the connection is paused. */
const HELD_BYTES = 131_072;

/**
 * A body that the handler did not read is read to its end before the answer, up to this long and this much: a client that
 * is still writing when the connection closes sees a reset instead of its answer.
 */
const REST_MS = 1_000;
const REST_BYTES = 16_777_216;

/** Stops and restarts the reading of the connection. */
export interface Flow {
  pause(): void;
  resume(): void;
}

type State = "arriving" | "complete" | "gone";

/** The body of one request: its listener pushes, its handler reads once. */
export class IncomingBody {
  readonly #flow: Flow;
  readonly #declared: number | null;
  #state: State;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #paused = false;
  #dropping = false;
  /** Called when something changed: for the reader, or for the answer that waits for the rest. */
  #changed: (() => void) | null = null;

  /** `declared`: the Content-Length; null: chunked. */
  constructor(options: { declared: number | null; flow: Flow }) {
    this.#flow = options.flow;
    this.#declared = options.declared;
    this.#state = options.declared === 0 ? "complete" : "arriving";
  }

  /** True when every byte has arrived. */
  get complete(): boolean {
    return this.#state === "complete";
  }

  /** Keeps the chunk, which must not change afterwards. */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (!this.#dropping) {
      this.#chunks.push(chunk);
      if (!this.#changed && this.#bytes > HELD_BYTES && !this.#paused) {
        this.#paused = true;
        this.#flow.pause();
      }
    }
    this.#changed?.();
  }

  finish(): void {
    if (this.#state === "arriving") this.#state = "complete";
    this.#changed?.();
  }

  gone(): void {
    if (this.#state === "arriving") this.#state = "gone";
    this.#chunks = [];
    this.#changed?.();
  }

  /** See HttpRequest.body. */
  read(limitBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.#bytes > limitBytes || (this.#declared ?? 0) > limitBytes) {
          this.#drop();
          reject(new Refusal("too-large"));
        } else if (this.#state === "complete") {
          this.#changed = null;
          resolve(joined(this.#chunks));
          this.#chunks = [];
        } else if (this.#state === "gone") {
          this.#changed = null;
          reject(new RequestGone());
        }
      };
      this.#changed = look;
      this.#resume();
      look();
    });
  }

  /** Resolves when the answer need not wait for more of the body. */
  async rest(): Promise<void> {
    const waiting = this.#state === "arriving" && (this.#declared ?? 0) <= REST_BYTES;
    this.#drop();
    if (!waiting) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, REST_MS);
      this.#changed = () => {
        if (this.#state === "arriving" && this.#bytes <= REST_BYTES) return;
        clearTimeout(timer);
        resolve();
      };
      this.#resume();
    });
    this.#changed = null;
  }

  #drop(): void {
    this.#dropping = true;
    this.#chunks = [];
    this.#changed = null;
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#state === "arriving") this.#flow.resume();
  }
}

function joined(chunks: readonly Uint8Array[]): Buffer {
  const [first] = chunks;
  if (first && chunks.length === 1) return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  return Buffer.concat(chunks);
}
