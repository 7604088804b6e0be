import { cutText } from "../../../machines/line.ts";
import { newId } from "../../domain/ids.ts";
import { ModelFault, TURN_TEXT_CHARS } from "../../model.ts";
import type { ArrivedAnswer, ModelCall, ModelTurn, SentRequest, Wrote } from "../../model.ts";
import type { CompletionChunk } from "./completion-chunk.ts";
import { standsAlone } from "./event-data.ts";
import { cutOff, forGood, malformedCall, NoChoice, notUnderstood } from "../faults.ts";
import type { BodyReader, PushedResponse } from "../exchange/pushed-response.ts";
import type { Quirks } from "../refusals/quirks.ts";
import { sseParser } from "./sse.ts";
import { createTextCallFilter, endsInCall } from "./text-calls.ts";
import type { TextCallFilter } from "./text-calls.ts";
import { createThoughtFilter } from "./thoughts.ts";
import type { ThoughtFilter } from "./thoughts.ts";
import { TurnBuilder } from "./turn-builder.ts";

/** A turn as read from the answer; the caller adds `by`. */
export type ReadTurn = Omit<ModelTurn, "by">;

/** What is odd about an answer that was read all the same, or for which it was not: for the log and the metrics. */
export type Oddity =
  | "call_as_text"
  | "call_without_name"
  | "compressed"
  | "no_finish_reason"
  | "text_after_end";

export interface Reading {
  wrote: Wrote;
  quirks: Pick<Quirks, "thinking" | "textCalls">;
  /** The names of the tools that the request offered. */
  offered: readonly string[];
  odd: (oddity: Oddity) => void;
  /** An event as a chunk; absent: it is one (way.ts). */
  readChunk?: (json: unknown) => CompletionChunk;
  /** Is kept true while the answer arrives. */
  sent?: SentRequest;
}

/** Longest answer of a server that does not stream. */
const MAX_WHOLE_BYTES = 4_194_304;
/** How long usage and [DONE] may come after a finish_reason, from servers that neither say more nor close. */
const END_WAIT_MS = 2_000;
/** Bytes up to a space are white space. */
const [SPACE, BRACKET, BRACE] = [0x20, 0x5b, 0x7b];

/**
 * Reads a streamed chat completion to its end: a finish_reason and END_WAIT_MS, [DONE], or the end of the stream after a
 * finish_reason. Rejects with a ModelFault (a PassingFault only if no text was passed on), or with the error that `wrote`
 * threw.
 */
export function readTurn(response: PushedResponse, reading: Reading): Promise<ReadTurn> {
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
    if (response.coding !== null) reading.odd("compressed");
    if (response.isEncoded)
      settle.reject(notUnderstood(new Error(`Cannot read the answer: it is encoded as ${response.coding}`)));
    else {
      const reader = new TurnReader(response, reading, settle);
      if (reading.sent) reading.sent.arrived = () => reader.arrived();
      response.read(reader);
    }
  });
}

interface Settle {
  resolve: (turn: ReadTurn) => void;
  reject: (error: unknown) => void;
}

class TurnReader implements BodyReader {
  readonly #response: PushedResponse;
  readonly #reading: Reading;
  readonly #settle: Settle;
  readonly #turn: TurnBuilder;
  readonly #thoughts: ThoughtFilter;
  /** null: no tools were offered, or the text is no call. */
  #textCalls: TextCallFilter | null;
  readonly #parser = sseParser((data) => this.#add(this.#turn.take(data)), standsAlone);
  /** The answer so far, from a server that does not stream as requested; null: it streams. */
  #whole: Buffer[] | null = null;
  #wholeBytes = 0;
  #text = "";
  /** Text that has arrived and is not passed on yet. */
  #pending = "";
  /** The pieces of the current network read: one for each chunk of the transfer encoding. */
  #pieces: Buffer[] = [];
  #isEmpty = true;
  /** When text was first passed on; null: none was. */
  #firstTextAtMs: number | null = null;
  #isPaused = false;
  #isOver = false;
  /** Ends the turn after END_WAIT_MS. */
  #endWait: NodeJS.Timeout | undefined;

  constructor(response: PushedResponse, reading: Reading, settle: Settle) {
    const { quirks, offered } = reading;
    this.#response = response;
    this.#reading = reading;
    this.#turn = new TurnBuilder(offered, reading.readChunk);
    this.#thoughts = createThoughtFilter({ beginsInThought: quirks.thinking === "open" });
    this.#textCalls = offered.length === 0 ? null : createTextCallFilter(offered);
    this.#settle = settle;
  }

  arrived(): ArrivedAnswer {
    return { ...this.#turn.arrived(), firstTextAtMs: this.#firstTextAtMs };
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
    else this.#takeRest();
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
    if (!this.#whole) this.#takeRest();
    if (this.#isOver) return;
    if (this.#turn.isFinished) this.#finish();
    else this.#fail(error instanceof ModelFault ? error : cutOff(error));
  }

  #endRead(): void {
    this.#takeIn();
    if (this.#isOver) return;
    if (this.#turn.isDone) this.#finish();
    else {
      this.#pass(endsInHalfPair(this.#pending) ? this.#pending.length - 1 : this.#pending.length);
      if (this.#turn.isFinished) this.#awaitEnd();
    }
  }

  #takeIn(): void {
    if (this.#pieces.length === 0) return;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    // Some servers send empty lines until the whole answer is ready.
    if (this.#isEmpty) {
      const first = bytes.find((byte) => byte > SPACE);
      // A stream of events never begins with a brace. Gemini sends an error as a list.
      if (first === BRACE || first === BRACKET) this.#whole = [];
      this.#isEmpty = first === undefined;
    }
    const whole = this.#whole;
    this.#orFail(() => {
      if (whole === null) return this.#parser.push(bytes);
      whole.push(bytes);
      this.#wholeBytes += bytes.length;
      if (this.#wholeBytes > MAX_WHOLE_BYTES) throw new Error("Cannot read the answer: it is too long");
    });
  }

  #takeRest(): void {
    this.#orFail(() => {
      const rest = this.#parser.rest();
      if (rest !== null) this.#add(this.#turn.takeLast(rest));
    });
  }

  #takeWhole(pieces: readonly Buffer[]): void {
    this.#orFail(() => this.#add(this.#turn.takeWhole(Buffer.concat(pieces).toString())));
  }

  #orFail(read: () => void): void {
    if (this.#isOver) return;
    try {
      read();
    } catch (error) {
      this.#fail(error instanceof ModelFault ? error : notUnderstood(error));
    }
  }

  #add(text: string): void {
    if (text !== "") this.#addReply(this.#thoughts.push(text));
  }

  #addReply(text: string): void {
    if (this.#textCalls === null) this.#pending += text;
    else {
      this.#pending += this.#textCalls.push(text);
      if (this.#textCalls.isText) this.#textCalls = null;
    }
  }

  /** While reading is paused, nobody knows what has come already. */
  #awaitEnd(): void {
    if (this.#isOver) return;
    clearTimeout(this.#endWait);
    if (!this.#isPaused) this.#endWait = setTimeout(() => this.#finish(), END_WAIT_MS);
  }

  #finish(): void {
    const { usage, finishReason, extra } = this.#turn;
    const { calls } = this.#turn;
    const isCut = finishReason === "length" || finishReason === "content_filter" || calls.length > 0;
    this.#addReply(this.#thoughts.end(isCut));
    const written = this.#endTextCalls(calls.length > 0);
    if (written === null) return;
    calls.push(...written);
    this.#pass(this.#pending.length);
    if (this.#isOver) return;
    if (calls.length === 0 && this.#text === "" && this.#turn.hasNamelessCall) {
      this.#reading.odd("call_without_name");
      this.#fail(malformedCall(new Error("Cannot read a call: it has no name")));
      return;
    }
    this.#noteOddities();
    this.#isOver = true;
    clearTimeout(this.#endWait);
    this.#settle.resolve({
      text: cutText(this.#text, TURN_TEXT_CHARS),
      calls,
      usage,
      finishReason,
      ...(extra === null ? {} : { extra }),
      ...(this.#whole ? { isWhole: true } : {}),
    });
  }

  /** The calls that the text was; null: it was calls, and this provider's are not made. */
  #endTextCalls(hasCalls: boolean): ModelCall[] | null {
    if (this.#textCalls === null) return [];
    const { calls, text } = this.#textCalls.end();
    this.#textCalls = null;
    this.#pending += text;
    if (calls.length === 0) return [];
    // A server that makes calls of them may leave the text, too.
    if (hasCalls) return [];
    if (this.#reading.quirks.textCalls) return calls.map((call) => ({ callId: `call_${newId()}`, ...call }));
    this.#reading.odd("call_as_text");
    this.#fail(malformedCall(new Error("The model wrote a call as text")));
    return null;
  }

  #noteOddities(): void {
    const { finishReason, hasNamelessCall, hasMoreAfterEnd } = this.#turn;
    const { offered, odd } = this.#reading;
    if (offered.length > 0 && endsInCall(this.#text, offered)) odd("call_as_text");
    if (finishReason === null && !this.#whole) odd("no_finish_reason");
    if (hasNamelessCall) odd("call_without_name");
    if (hasMoreAfterEnd) odd("text_after_end");
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    clearTimeout(this.#endWait);
    this.#settle.reject(this.#firstTextAtMs === null ? error : forGood(error));
  }

  #pass(chars: number): void {
    if (this.#isOver || chars === 0) return;
    // A half of a surrogate pair whose other half never came is replaced, so that the text can be written as UTF-8.
    const passed = this.#pending.slice(0, chars).toWellFormed();
    this.#pending = this.#pending.slice(chars);
    if (this.#text.length < TURN_TEXT_CHARS) this.#text += passed;
    this.#firstTextAtMs ??= performance.now();
    try {
      const room = this.#reading.wrote(passed);
      if (room) this.#wait(room);
    } catch (error) {
      this.#fail(error);
    }
  }

  #wait(room: Promise<unknown>): void {
    this.#isPaused = true;
    clearTimeout(this.#endWait);
    this.#response.pause(true);
    void room.then(() => {
      if (this.#isOver) return;
      this.#isPaused = false;
      this.#response.pause(false);
      if (this.#turn.isFinished) this.#awaitEnd();
    });
  }
}

function endsInHalfPair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
