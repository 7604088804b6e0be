import type { Dispatcher } from "undici";
import { errorReader } from "./error-reader.ts";
import { fellSilent } from "./faults.ts";
import { PushedResponse } from "./pushed-response.ts";
import type { BodyReader, PushSource } from "./pushed-response.ts";

/** How long an answer may take to end after its reader left; its connection can be used again if it does. */
const REST_MS = 1_000;

/** One request and its answer: passes undici's events on to the current reader. */
export class PostExchange implements Dispatcher.DispatchHandler, PushSource {
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | null;
  readonly #silenceMs: number;
  #controller: Dispatcher.DispatchController | null = null;
  #reader: BodyReader;
  /** Events between the head and the first reader. */
  #early: ((reader: BodyReader) => void)[] = [];
  #isOver = false;
  /** The timer of the silence limit; runs while bytes are expected. */
  #silence: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;

  constructor(options: {
    resolve: (response: Response) => void;
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
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#silence?.refresh();
    if (status < 200) return;
    if (status > 599) throw new RangeError(`Cannot read the answer: its status is ${status}`);
    if (status >= 300) {
      this.#reader = errorReader({ status, headers }, this.#resolve, this.#reject);
      return;
    }
    this.#reader = {
      data: (bytes) => this.#early.push((reader) => reader.data(bytes)),
      end: () => this.#early.push((reader) => reader.end()),
      failed: (error) => this.#early.push((reader) => reader.failed(error)),
    };
    this.#resolve(new PushedResponse(this, { status, isEncoded: isEncoded(headers["content-encoding"]) }));
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#silence?.refresh();
    this.#reader.data(bytes);
  }

  onResponseEnd(): void {
    this.#close();
    this.#reader.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#close();
    this.#reader.failed(error);
  }

  readBy(reader: BodyReader): void {
    this.#reader = reader;
    for (const event of this.#early.splice(0)) event(reader);
  }

  pause(paused: boolean): void {
    if (this.#isOver) return;
    // While reading is paused, silence says nothing about the server.
    this.#listen(!paused);
    if (paused) this.#controller?.pause();
    else this.#controller?.resume();
  }

  leave(): void {
    this.#reader = ignore;
    this.#listen(false);
    if (!this.#isOver) this.#rest = setTimeout(() => this.drop(), REST_MS).unref();
  }

  drop(): void {
    this.#reader = ignore;
    if (!this.#isOver) this.#abort(null);
  }

  #listen(listens: boolean): void {
    clearTimeout(this.#silence);
    this.#silence = listens ? setTimeout(() => this.#abort(fellSilent()), this.#silenceMs) : undefined;
  }

  readonly #stop = (): void => this.#abort(this.#signal?.reason);

  // Fails the reader at once: undici reports an abort only after it has closed the connection.
  #abort(reason: unknown): void {
    const reader = this.#reader;
    this.#reader = ignore;
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

/** `identity` and `none` mean no encoding; some servers send them so that a proxy in front does not compress. */
function isEncoded(encoding: string | string[] | undefined): boolean {
  return [encoding ?? []]
    .flat()
    .some((name) => !["", "identity", "none"].includes(name.trim().toLowerCase()));
}

/** The reader after the last one has left. */
const ignore: BodyReader = { data() {}, end() {}, failed() {} };
