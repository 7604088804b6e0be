import type { Dispatcher } from "undici";
import { errorReader } from "./error-reader.ts";
import { fellSilent } from "./faults.ts";
import { PushedResponse } from "./pushed-response.ts";
import type { BodyReader, PushSource } from "./pushed-response.ts";

/** How long an answer may take to end after its reader left, so that its connection can be used again. */
const REST_MS = 1_000;

/** One request and its answer, as undici reports it to the present reader. */
export class PostExchange implements Dispatcher.DispatchHandler, PushSource {
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | null;
  readonly #silenceMs: number;
  #controller: Dispatcher.DispatchController | null = null;
  #reader: BodyReader;
  /** What came between the head and its reader. */
  #early: ((reader: BodyReader) => void)[] = [];
  #isOver = false;
  /** Runs while bytes are waited for. */
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
    // Aborted while it waited for a connection.
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
    // While nothing is read, silence says nothing about the server.
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

  // The reader fails at once: undici reports it only after it has closed the connection.
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

/** Two names for no encoding are sent, too: by servers that keep a proxy before them from compressing. */
function isEncoded(encoding: string | string[] | undefined): boolean {
  return [encoding ?? []]
    .flat()
    .some((name) => !["", "identity", "none"].includes(name.trim().toLowerCase()));
}

/** A reader after the last one has left. */
const ignore: BodyReader = { data() {}, end() {}, failed() {} };
