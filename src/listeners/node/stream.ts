import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpAnswer, OnFault, Outlet } from "../../listener.ts";
import { startStream } from "../handling.ts";
import { SendBuffer } from "../send-buffer.ts";
import { afterTick } from "../tick.ts";
import { closeIfStalled, closeIfUnread, writeHead } from "./send.ts";

/** The body of an answer as a stream on node's response object. */
export class NodeStream implements Outlet {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #answer: HttpAnswer;
  /** The connection closes after the answer. */
  readonly #closes: boolean;
  readonly #sendBuffer = new SendBuffer({
    write: (frame) => {
      this.#sendHead();
      return this.#response.write(frame);
    },
    end: () => {
      this.#sendHead();
      this.#response.end();
    },
    cutOff: () => this.#request.socket.destroy(),
    // Writes of one tick leave together anyway.
    corked: (work) => work(),
  });
  #isGone: boolean;
  #ended = false;
  #onGone: (() => void) | null = null;

  constructor(
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    answer: HttpAnswer,
    closes: boolean,
  ) {
    this.#request = request;
    this.#response = response;
    this.#answer = answer;
    this.#closes = closes;
    this.#isGone = response.destroyed;
  }

  run(stream: NonNullable<HttpAnswer["stream"]>, onFault: OnFault): void {
    const response = this.#response;
    response.on("drain", () => this.#sendBuffer.writable());
    response.once("close", () => this.#gone());
    if (this.#isGone) this.#sendBuffer.close();
    if (!startStream(stream, this, onFault)) this.#request.socket.destroy();
    afterTick(() => {
      if (this.#isGone || response.headersSent || this.#sendBuffer.unreadBytes > 0) return;
      this.#sendHead();
      response.flushHeaders();
    });
  }

  write(chunk: string | Uint8Array): void {
    this.#sendBuffer.write(chunk);
  }

  end(chunk?: string | Uint8Array): void {
    this.#ended = true;
    this.#sendBuffer.end(chunk);
    afterTick(() => closeIfUnread(this.#request.socket));
  }

  onDrained(callback: () => void): void {
    this.#sendBuffer.onDrained(callback);
  }

  pull(next: () => void): void {
    closeIfStalled(this.#request.socket);
    this.#sendBuffer.pull(next);
  }

  cut(): void {
    this.#request.socket.destroy();
  }

  onGone(callback: () => void): void {
    this.#onGone = callback;
    if (this.#isGone && !this.#ended) callback();
  }

  #gone(): void {
    this.#isGone = true;
    this.#sendBuffer.close();
    if (!this.#ended) this.#onGone?.();
  }

  #sendHead(): void {
    if (!this.#response.headersSent && !this.#isGone) writeHead(this.#response, this.#answer, this.#closes);
  }
}
