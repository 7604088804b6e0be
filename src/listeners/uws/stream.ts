import type { HttpResponse } from "uWebSockets.js";
import type { HttpAnswer, OnFault, Outlet } from "../../listener.ts";
import { startStream } from "../handling.ts";
import { SendBuffer } from "../send-buffer.ts";
import { afterTick } from "../tick.ts";
import { chunkEndOf, writeEnded } from "./chunk-end.ts";
import type { ChunkEnd } from "./chunk-end.ts";

/** The parts of a request that its stream needs. */
export interface StreamedExchange {
  readonly response: HttpResponse;
  /** True: the response must not be touched any more. */
  readonly isOver: boolean;
  /** The response is about to end. */
  finish(): void;
  /** Status and headers, within a corked write. */
  writeHead(answer: HttpAnswer): void;
  /** Runs the end of the response, within a corked write. */
  end(end: () => void): void;
}

/**
 * A failed write arms a timer of 8 to 12 s that closes the connection. A reader may pause for longer, as only the send buffer
 * decides who is too slow: so the timer is armed again this often.
 */
const REARM_EVERY_MS = 4_000;

/**
 * A stream that has ended, or that is sent as fast as it is read, closes a reader that takes nothing for this long,
 * whatever timers the build has.
 */
const STALLED_MS = 12_000;

/** The body of an answer as a stream on uWS's response object. */
export class UwsStream implements Outlet {
  readonly #exchange: StreamedExchange;
  readonly #answer: HttpAnswer;
  /** The connection closes after the answer. */
  readonly #closes: boolean;
  /** What ends the chunk of each write until the last one. */
  readonly #chunkEnd: ChunkEnd | null;
  readonly #sendBuffer = new SendBuffer({
    write: (frame) => this.#writeFrame(frame),
    end: () => this.#endResponse(),
    cutOff: () => {
      if (!this.#exchange.isOver) this.#exchange.response.close();
    },
    corked: (work) => {
      if (this.#exchange.isOver) work();
      else this.#exchange.response.cork(work);
    },
  });
  #headSent = false;
  #ended = false;
  /** Its text is already complete: the timer closes a reader that takes nothing. */
  #pulled = false;
  #onGone: (() => void) | null = null;
  #rearming: NodeJS.Timeout | null = null;
  /** Closes a reader that takes nothing. */
  #stalled: NodeJS.Timeout | null = null;
  /** The next corked write's frame, and whether the last one was taken: as fields, so that a write needs no closure. */
  #frame: string | Uint8Array = "";
  #taken = true;

  constructor(exchange: StreamedExchange, answer: HttpAnswer, closes: boolean) {
    this.#exchange = exchange;
    this.#answer = answer;
    this.#closes = closes;
    this.#chunkEnd = chunkEndOf(answer);
  }

  run(stream: NonNullable<HttpAnswer["stream"]>, onFault: OnFault): void {
    const exchange = this.#exchange;
    if (!exchange.isOver) exchange.response.onWritable(this.#onWritable);
    if (!startStream(stream, this, onFault) && !exchange.isOver) exchange.response.close();
    afterTick(() => this.#sendHeadAlone());
    if (exchange.isOver) this.#sendBuffer.close();
  }

  write(chunk: string | Uint8Array): void {
    this.#sendBuffer.write(chunk);
  }

  end(chunk?: string | Uint8Array): void {
    this.#ended = true;
    this.#stopTimers();
    if (!this.#taken) this.#closeIfStalled();
    this.#sendBuffer.end(chunk);
  }

  onDrained(callback: () => void): void {
    this.#sendBuffer.onDrained(callback);
  }

  pull(next: () => void): void {
    this.#pulled = true;
    this.#sendBuffer.pull(next);
  }

  cut(): void {
    if (!this.#exchange.isOver) this.#exchange.response.close();
  }

  onGone(callback: () => void): void {
    this.#onGone = callback;
    if (this.#exchange.isOver && !this.#ended) callback();
  }

  /** The connection is gone. */
  gone(): void {
    this.#stopTimers();
    this.#sendBuffer.close();
    if (!this.#ended) this.#onGone?.();
  }

  #writeFrame(frame: string | Uint8Array): boolean {
    if (this.#exchange.isOver) return true;
    this.#frame = frame;
    this.#exchange.response.cork(this.#writeCorked);
    if (this.#taken) return true;
    if (this.#ended || this.#pulled) this.#closeIfStalled();
    else this.#rearming ??= setInterval(this.#rearm, REARM_EVERY_MS);
    return false;
  }

  #endResponse(): void {
    if (this.#exchange.isOver) return;
    this.#stopTimers();
    this.#exchange.finish();
    this.#exchange.response.cork(this.#endCorked);
  }

  /** If nothing has been written yet, a JSON stream sends its head with a space, which JSON allows before a line. */
  #sendHeadAlone(): void {
    const { headers } = this.#answer;
    const isJson = headers["content-type"]?.includes("json") && !("content-encoding" in headers);
    if (!this.#headSent && isJson && !this.#ended && this.#sendBuffer.unreadBytes === 0)
      this.#sendBuffer.writeNow(" ");
  }

  #closeIfStalled(): void {
    this.#stalled ??= setTimeout(() => this.cut(), STALLED_MS).unref();
  }

  #stopTimers(): void {
    if (this.#rearming) clearInterval(this.#rearming);
    if (this.#stalled) clearTimeout(this.#stalled);
    this.#rearming = null;
    this.#stalled = null;
  }

  readonly #writeCorked = (): void => {
    const { response } = this.#exchange;
    if (!this.#headSent) {
      this.#headSent = true;
      this.#exchange.writeHead(this.#answer);
      if (this.#closes) response.writeHeader("connection", "close");
    }
    if (this.#frame.length === 0) return;
    // What is pulled, or ended, is followed at once by more.
    const isLast = this.#ended || this.#pulled;
    this.#taken =
      this.#chunkEnd === null || isLast
        ? response.write(this.#frame)
        : writeEnded(response, this.#frame, this.#chunkEnd);
  };

  readonly #endCorked = (): void => {
    this.#frame = "";
    this.#writeCorked();
    this.#exchange.end(() => void this.#exchange.response.end());
  };

  readonly #onWritable = (): boolean => {
    this.#stopTimers();
    this.#exchange.response.cork(nothing);
    this.#sendBuffer.writable();
    return true;
  };

  readonly #rearm = (): void => {
    const { response } = this.#exchange;
    response.resume();
    // resume() also cancelled the wait until the connection is writable: a write that fails starts it again.
    response.cork(nothing);
    this.#sendBuffer.writable();
  };
}

function nothing(): void {}
