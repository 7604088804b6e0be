import { cutText } from "../../machines/line.ts";
import { ModelFault, TURN_TEXT_CHARS } from "../model.ts";
import type { ModelTurn, Wrote } from "../model.ts";
import { Answer } from "./answer.ts";
import type { BodyReader, PushedResponse } from "./fast-fetch.ts";
import { cutOff, forGood, notUnderstood } from "./faults.ts";
import { sseParser } from "./sse.ts";

/**
 * Reads a streamed chat completion to its end. Rejects with ModelFault, a PassingFault only as long as nothing was passed
 * on, or with what `wrote` threw.
 */
export function readTurn(response: PushedResponse, wrote: Wrote): Promise<ModelTurn> {
  return new Promise((resolve, reject) => {
    const settle = {
      resolve: (turn: ModelTurn) => {
        response.leave();
        resolve(turn);
      },
      reject: (error: unknown) => {
        response.drop();
        reject(error);
      },
    };
    if (response.isEncoded) settle.reject(notUnderstood("compressed, though identity was asked for"));
    else response.read(new TurnReader(response, wrote, settle));
  });
}

interface Settle {
  resolve: (turn: ModelTurn) => void;
  reject: (error: unknown) => void;
}

class TurnReader implements BodyReader {
  readonly #response: PushedResponse;
  readonly #wrote: Wrote;
  readonly #settle: Settle;
  readonly #answer = new Answer();
  readonly #parser = sseParser((data) => (this.#untold += this.#answer.take(data)));
  #text = "";
  /** Text that has come and was not told yet. */
  #untold = "";
  /** What has come of the present network read: one piece for each chunk of the transfer encoding. */
  #pieces: Buffer[] = [];
  #isEmpty = true;
  #hasSpoken = false;
  #isOver = false;

  constructor(response: PushedResponse, wrote: Wrote, settle: Settle) {
    this.#response = response;
    this.#wrote = wrote;
    this.#settle = settle;
  }

  /** undici hands over a read in pieces, all in one tick. 20 of them read as one cost 20 µs less. */
  data(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#pieces.push(bytes);
    if (this.#pieces.length === 1) queueMicrotask(() => this.#endRead());
  }

  end(): void {
    this.#takeIn();
    const { isFinished, hasBegun } = this.#answer;
    if (isFinished) this.#finish();
    else
      this.#fail(hasBegun || this.#isEmpty ? cutOff() : notUnderstood(new Error("Cannot read: no events")));
  }

  /** A connection that is lost after all was said takes nothing away. */
  failed(error: unknown): void {
    this.#takeIn();
    if (this.#answer.isFinished) this.#finish();
    else this.#fail(error instanceof ModelFault ? error : cutOff(error));
  }

  #endRead(): void {
    this.#takeIn();
    if (this.#answer.isDone) this.#finish();
    else this.#tell(endsInHalfPair(this.#untold) ? this.#untold.length - 1 : this.#untold.length);
  }

  #takeIn(): void {
    if (this.#pieces.length === 0) return;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#isEmpty = false;
    try {
      this.#parser.push(bytes);
    } catch (error) {
      this.#fail(error instanceof ModelFault ? error : notUnderstood(error));
    }
  }

  #finish(): void {
    this.#tell(this.#untold.length);
    if (this.#isOver) return;
    this.#isOver = true;
    const text = cutText(this.#text, TURN_TEXT_CHARS);
    this.#settle.resolve({ text, calls: this.#answer.calls, usage: this.#answer.usage });
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#settle.reject(this.#hasSpoken ? forGood(error) : error);
  }

  #tell(chars: number): void {
    if (this.#isOver || chars === 0) return;
    // Half of a pair whose other half never came is replaced: what is told can be written as UTF-8.
    const told = this.#untold.slice(0, chars).replaceAll(/\p{Surrogate}/gu, "\ufffd");
    this.#untold = this.#untold.slice(chars);
    if (this.#text.length < TURN_TEXT_CHARS) this.#text += told;
    this.#hasSpoken = true;
    try {
      const room = this.#wrote(told);
      if (room) this.#wait(room);
    } catch (error) {
      this.#fail(error);
    }
  }

  #wait(room: Promise<unknown>): void {
    this.#response.pause(true);
    void room.then(() => {
      if (!this.#isOver) this.#response.pause(false);
    });
  }
}

function endsInHalfPair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
