import type { Dispatcher } from "undici";
import { codingOf, openDecoder } from "./decoder.ts";
import type { Decoder } from "./decoder.ts";
import { errorReader } from "./error-reader.ts";
import { fellSilent } from "../faults.ts";
import { PushedResponse } from "./pushed-response.ts";
import type { BodyReader, Posted, PushSource } from "./pushed-response.ts";
import { startSilenceTimer } from "./silence-timer.ts";
import type { SilenceTimer } from "./silence-timer.ts";

/** How long an answer may take to end after its reader left; its connection can be used again if it does. */
const REST_MS = 1_000;

/** One request and its answer: passes undici's events on to the current reader. */
export class PostExchange implements Dispatcher.DispatchHandler, PushSource {
  readonly #resolve: (posted: Posted) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | null;
  readonly #silenceMs: number;
  #controller: Dispatcher.DispatchController | null = null;
  #reader: BodyReader;
  /** Events between the head and the first reader. */
  #early: ((reader: BodyReader) => void)[] = [];
  /** Of a compressed body; null: it is none. */
  #decoder: Decoder | null = null;
  #isDecoderFull = false;
  #isPaused = false;
  #isOver = false;
  /** The timer of the silence limit; runs while bytes are expected. */
  #silence: SilenceTimer | undefined;
  #rest: NodeJS.Timeout | undefined;

  constructor(options: {
    resolve: (posted: Posted) => void;
    reject: (reason: unknown) => void;
    signal: AbortSignal | null;
    silenceMs: number;
  }) {
    this.#resolve = options.resolve;
    this.#reject = options.reject;
    this.#reader = { ...ignore, failed: options.reject };
    this.#signal = options.signal;
    this.#silenceMs = options.silenceMs;
    this.#signal?.addEventListener("abort", this.#stop);
    this.#listen(true);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The signal was aborted while the request waited for a connection.
    if (this.#signal?.aborted) this.#stop();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#silence?.heard();
    // They are parts of the first chunk that came, and would keep it for as long as the answer lasts: some 5 kB.
    controller.rawHeaders = null;
    if (status < 200) return;
    if (status > 599) throw new RangeError(`Cannot read the answer: its status is ${status}`);
    const coding = codingOf(headers["content-encoding"]);
    if (coding !== null) this.#decoder = this.#openDecoder(coding);
    if (status >= 300) {
      this.#reader = errorReader(
        { status, headers },
        { resolve: this.#resolve, reject: this.#reject, leave: () => this.leave() },
      );
      return;
    }
    this.#reader = {
      data: (bytes) => this.#early.push((reader) => reader.data(bytes)),
      end: () => this.#early.push((reader) => reader.end()),
      failed: (error) => this.#early.push((reader) => reader.failed(error)),
    };
    this.#resolve(new PushedResponse(this, { status, coding, isEncoded: coding !== null && !this.#decoder }));
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#silence?.heard();
    if (this.#decoder) this.#decoder.write(bytes);
    else this.#reader.data(bytes);
  }

  onResponseEnd(): void {
    this.#close();
    if (this.#decoder) this.#decoder.end();
    else this.#reader.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#close();
    if (this.#decoder) this.#decoder.end(error);
    else this.#reader.failed(error);
  }

  readBy(reader: BodyReader): void {
    this.#reader = reader;
    for (const event of this.#early.splice(0)) event(reader);
  }

  pause(paused: boolean): void {
    this.#isPaused = paused;
    this.#decoder?.pause(paused);
    this.#regulate();
  }

  /** Reads only what the reader and the decoder take. */
  #regulate(): void {
    if (this.#isOver) return;
    const pauses = this.#isPaused || this.#isDecoderFull;
    // While reading is paused, silence says nothing about the server.
    this.#listen(!pauses);
    if (pauses) this.#controller?.pause();
    else this.#controller?.resume();
  }

  #openDecoder(coding: string): Decoder | null {
    return openDecoder(coding, {
      data: (bytes) => this.#reader.data(bytes),
      end: () => this.#reader.end(),
      failed: (error) => (this.#isOver ? this.#reader.failed(error) : this.#abort(error)),
      full: (isFull) => {
        this.#isDecoderFull = isFull;
        this.#regulate();
      },
    });
  }

  leave(): void {
    this.#reader = ignore;
    this.#decoder?.drop();
    this.#listen(false);
    if (!this.#isOver) this.#rest = setTimeout(() => this.drop(), REST_MS).unref();
  }

  drop(): void {
    this.#reader = ignore;
    this.#decoder?.drop();
    if (!this.#isOver) this.#abort(null);
  }

  #listen(listens: boolean): void {
    this.#silence?.stop();
    this.#silence = listens ? startSilenceTimer(this.#silenceMs, () => this.#abort(fellSilent())) : undefined;
  }

  readonly #stop = (): void => this.#abort(this.#signal?.reason);

  // Fails the reader at once: undici reports an abort only after it has closed the connection.
  #abort(reason: unknown): void {
    const reader = this.#reader;
    this.#reader = ignore;
    this.#decoder?.drop();
    this.#close();
    this.#controller?.abort(new Error("aborted"));
    reader.failed(reason);
  }

  #close(): void {
    this.#isOver = true;
    this.#listen(false);
    clearTimeout(this.#rest);
    this.#signal?.removeEventListener("abort", this.#stop);
  }
}

/** The reader after the last one has left. */
const ignore: BodyReader = { data() {}, end() {}, failed() {} };
