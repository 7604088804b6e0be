import type { HttpResponse } from "uWebSockets.js";
import type { Handler, HttpAnswer, OnFault } from "../../listener.ts";
import { bodyBytes, hasNoBody } from "../answer-head.ts";
import { goneOutlet, startStream } from "../handling.ts";
import { IncomingBody } from "../incoming-body.ts";
import { afterTick } from "../tick.ts";
import { writeContinue, writeHead, writeHeadAfterContinue } from "./head.ts";
import { UwsStream } from "./stream.ts";
import type { StreamedExchange } from "./stream.ts";
import type { UwsTimers } from "./timers.ts";

/** The parts of the listener that its requests need. */
export interface UwsServing {
  handler: Handler;
  onFault: OnFault;
  began(): void;
  ended(): void;
  full(): boolean;
  /** No new connections any more: answers close theirs. */
  leaving(): boolean;
  keeping: UwsTimers["keeping"];
}

/** uWebSockets.js keeps as much of a corked write, and sends it after the cork; a longer one is sent at once. */
const CORKED_BYTES = 15_000;

/** One request and its answer on uWS's response object, which is never touched once it is over. */
export class UwsExchange implements StreamedExchange {
  readonly response: HttpResponse;
  readonly #serving: UwsServing;
  readonly #isHead: boolean;
  #isOver = false;
  /** The last chunk of a chunked body has come: nothing more is read. */
  #hasLast = false;
  #body: IncomingBody | null = null;
  #stream: UwsStream | null = null;
  /** True: the connection closes after the answer, whatever the answer says. */
  mustClose = false;
  #hasContinued = false;

  constructor(options: { serving: UwsServing; response: HttpResponse; isHead: boolean }) {
    this.#serving = options.serving;
    this.response = options.response;
    this.#isHead = options.isHead;
    this.#serving.began();
    this.response.onAborted(() => this.#gone());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** In the tick of the request: sends the 100 of an Expect that uWS does not know. RFC 9110, section 10.1.1: case does not matter. */
  expect(expectation: string | undefined): void {
    if (expectation === undefined || expectation === "100-continue") return;
    if (expectation.toLowerCase() !== "100-continue") return;
    this.#hasContinued = true;
    writeContinue(this.response);
  }

  /** Within a corked write. */
  writeHead(answer: HttpAnswer): void {
    (this.#hasContinued ? writeHeadAfterContinue : writeHead)(this.response, answer);
  }

  /** Must be called in the tick of the request: bytes that arrive before the call are lost. */
  receive(declared: number | null): IncomingBody {
    const whileReading = (action: () => void) => () => {
      if (!this.#isOver && !this.#hasLast) action();
    };
    const body = new IncomingBody({
      declared,
      flow: {
        pause: whileReading(() => this.response.pause()),
        resume: whileReading(() => this.response.resume()),
      },
    });
    this.#body = body;
    if (declared !== 0) {
      this.response.onData((chunk, isLast) => {
        // uWS reuses the memory after this returns.
        if (chunk.byteLength > 0) body.push(new Uint8Array(chunk.slice(0)));
        if (!isLast) return;
        if (declared === null) this.#finishAlone(body);
        else body.finish();
      });
    }
    return body;
  }

  /**
   * Ends a chunked body. What follows its last chunk is a trailer, and uWS takes a trailer for a request, refuses it, and
   * closes the connection. If it came with the last chunk, that happens in this tick: the body is not finished before, so
   * nothing of a refused request is done. If not, it is never read: the connection is paused until it closes.
   */
  #finishAlone(body: IncomingBody): void {
    this.#hasLast = true;
    this.response.pause();
    afterTick(() => body.finish());
  }

  answer(answer: HttpAnswer): void {
    if (answer.stream) this.#streamed(answer, answer.stream);
    else afterTick(() => this.#whole(answer));
  }

  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#serving.ended();
  }

  /** Ends the response within a corked write; its connection is then kept. */
  end(end: () => void): void {
    this.#serving.keeping(end);
  }

  #whole(answer: HttpAnswer): void {
    if (this.#isOver) return;
    const { response } = this;
    const close = this.#closesAfter(answer);
    this.finish();
    response.cork(() => {
      this.writeHead(answer);
      // What the connection may not take at once is for a timer that is as short as a reader's.
      if (bodyBytes(answer.body) > CORKED_BYTES) this.#endWhole(answer, close);
      else this.end(() => this.#endWhole(answer, close));
    });
  }

  #endWhole(answer: HttpAnswer, close: boolean): void {
    const { response } = this;
    if (this.#isHead) response.endWithoutBody(bodyBytes(answer.body), close);
    else if (!hasNoBody(answer.status)) response.end(answer.body ?? "", close);
    // To close, uWS needs a length here.
    else if (close) response.endWithoutBody(0, true);
    else response.endWithoutBody();
  }

  #streamed(answer: HttpAnswer, stream: NonNullable<HttpAnswer["stream"]>): void {
    const { onFault } = this.#serving;
    if (this.#isHead) {
      afterTick(() => this.#whole({ ...answer, body: "" }));
      startStream(stream, goneOutlet, onFault);
      return;
    }
    this.#stream = new UwsStream(this, answer, this.#closesAfter(answer));
    this.#stream.run(stream, onFault);
  }

  #closesAfter(answer: HttpAnswer): boolean {
    return this.mustClose || answer.close === true || this.#serving.leaving();
  }

  #gone(): void {
    if (this.#isOver) return;
    this.finish();
    this.#body?.gone();
    this.#stream?.gone();
  }
}
