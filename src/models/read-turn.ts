import { cutText } from "../../machines/line.ts";
import { ModelFault, TURN_TEXT_CHARS } from "../model.ts";
import type { ModelTurn, Wrote } from "../model.ts";
import { withoutLongExtra } from "./extra.ts";
import { cutOff, forGood, NoChoice, notUnderstood } from "./faults.ts";
import type { BodyReader, PushedResponse } from "./pushed-response.ts";
import type { Quirks } from "./quirks.ts";
import { sseParser } from "./sse.ts";
import { createThoughtFilter } from "./thoughts.ts";
import type { ThoughtFilter } from "./thoughts.ts";
import { TurnBuilder } from "./turn-builder.ts";

/** A turn as read from the answer; the caller adds `by`. */
export type ReadTurn = Omit<ModelTurn, "by">;

/** Longest answer of a server that does not stream. */
const MAX_WHOLE_BYTES = 4_194_304;
/** Bytes up to a space are white space. */
const [SPACE, BRACE] = [0x20, 0x7b];

/**
 * Reads a streamed chat completion to its end. Rejects with a ModelFault (a PassingFault only if no text was passed
 * on), or with the error that `wrote` threw.
 */
export function readTurn(
  response: PushedResponse,
  wrote: Wrote,
  { thinking }: Pick<Quirks, "thinking">,
): Promise<ReadTurn> {
  return new Promise((resolve, reject) => {
    const settle = {
      resolve: (turn: ReadTurn) => {
        response.leave();
        resolve(turn);
      },
      reject: (error: unknown) => {
        response.drop();
        reject(error);
      },
    };
    if (response.isEncoded) settle.reject(notUnderstood("compressed, though identity was asked for"));
    else response.read(new TurnReader(response, { wrote, beginsInThought: thinking === "open" }, settle));
  });
}

interface Settle {
  resolve: (turn: ReadTurn) => void;
  reject: (error: unknown) => void;
}

class TurnReader implements BodyReader {
  readonly #response: PushedResponse;
  readonly #wrote: Wrote;
  readonly #settle: Settle;
  readonly #turn = new TurnBuilder();
  readonly #thoughts: ThoughtFilter;
  readonly #parser = sseParser((data) => (this.#pending += this.#thoughts.push(this.#turn.take(data))));
  /** The answer so far, from a server that does not stream as requested; null: it streams. */
  #whole: Buffer[] | null = null;
  #text = "";
  /** Text that has arrived and is not passed on yet. */
  #pending = "";
  /** The pieces of the current network read: one for each chunk of the transfer encoding. */
  #pieces: Buffer[] = [];
  #isEmpty = true;
  #hasPassed = false;
  #isOver = false;

  constructor(
    response: PushedResponse,
    { wrote, beginsInThought }: { wrote: Wrote; beginsInThought: boolean },
    settle: Settle,
  ) {
    this.#response = response;
    this.#wrote = wrote;
    this.#thoughts = createThoughtFilter({ beginsInThought });
    this.#settle = settle;
  }

  /** undici delivers one read in pieces, all in the same tick. Parsing 20 of them as one saves 20 µs. */
  data(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#pieces.push(bytes);
    if (this.#pieces.length === 1) queueMicrotask(() => this.#endRead());
  }

  end(): void {
    this.#takeIn();
    if (this.#whole) this.#takeWhole(this.#whole);
    if (this.#isOver) return;
    const { isFinished, hasBegun, hasChoice } = this.#turn;
    if (isFinished) this.#finish();
    else if (hasBegun && !hasChoice) this.#fail(new NoChoice());
    else
      this.#fail(hasBegun || this.#isEmpty ? cutOff() : notUnderstood(new Error("Cannot read: no events")));
  }

  /** Ignores a lost connection after the model has finished. */
  failed(error: unknown): void {
    this.#takeIn();
    if (this.#turn.isFinished) this.#finish();
    else this.#fail(error instanceof ModelFault ? error : cutOff(error));
  }

  #endRead(): void {
    this.#takeIn();
    if (this.#turn.isDone) this.#finish();
    else this.#pass(endsInHalfPair(this.#pending) ? this.#pending.length - 1 : this.#pending.length);
  }

  #takeIn(): void {
    if (this.#pieces.length === 0) return;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    // Some servers send empty lines until the whole answer is ready.
    if (this.#isEmpty) {
      const first = bytes.find((byte) => byte > SPACE);
      // A stream of events never begins with a brace.
      if (first === BRACE) this.#whole = [];
      this.#isEmpty = first === undefined;
    }
    if (this.#whole) {
      this.#whole.push(bytes);
      return;
    }
    try {
      this.#parser.push(bytes);
    } catch (error) {
      this.#fail(error instanceof ModelFault ? error : notUnderstood(error));
    }
  }

  #takeWhole(pieces: readonly Buffer[]): void {
    const bytes = Buffer.concat(pieces);
    try {
      if (bytes.length > MAX_WHOLE_BYTES) throw new Error("Cannot read the answer: it is too long");
      this.#pending += this.#thoughts.push(this.#turn.takeWhole(bytes.toString()));
    } catch (error) {
      this.#fail(error instanceof ModelFault ? error : notUnderstood(error));
    }
  }

  #finish(): void {
    const { calls, usage, finishReason, extra } = this.#turn;
    const isCut = finishReason === "length" || finishReason === "content_filter" || calls.length > 0;
    this.#pending += this.#thoughts.end(isCut);
    this.#pass(this.#pending.length);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settle.resolve({
      text: cutText(this.#text, TURN_TEXT_CHARS),
      usage,
      finishReason,
      ...withoutLongExtra(calls, extra),
      ...(this.#whole ? { isWhole: true } : {}),
    });
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#settle.reject(this.#hasPassed ? forGood(error) : error);
  }

  #pass(chars: number): void {
    if (this.#isOver || chars === 0) return;
    // A half of a surrogate pair whose other half never came is replaced, so that the text can be written as UTF-8.
    const passed = this.#pending.slice(0, chars).toWellFormed();
    this.#pending = this.#pending.slice(chars);
    if (this.#text.length < TURN_TEXT_CHARS) this.#text += passed;
    this.#hasPassed = true;
    try {
      const room = this.#wrote(passed);
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
