import type { Usage } from "../../../machines/run.ts";
import type { ArrivedAnswer, Extra, ModelCall } from "../../model.ts";
import { CallBuilder } from "./call-builder.ts";
import { readChunk } from "./completion-chunk.ts";
import type { CompletionChunk } from "./completion-chunk.ts";
import { readEventData } from "./event-data.ts";
import { extraChars, isTooMuchExtra, joinExtra } from "./extra.ts";
import { brokeOff, notUnderstood } from "../faults.ts";
import { isRecord } from "../../is-record.ts";
import { largerUsage } from "./told-usage.ts";

/** Builds a turn from the chunks of a chat completion. */
export class TurnBuilder {
  /** A chunk has arrived. */
  hasBegun = false;
  /** A chunk had a choice. */
  hasChoice = false;
  /** The model has finished; usage may still come. */
  isFinished = false;
  /** Nothing more will come. */
  isDone = false;
  /** Text or calls came after the end, and were left out. */
  hasMoreAfterEnd = false;
  /** The most that was told. */
  usage: Usage | null = null;
  finishReason: string | null = null;
  #extra: Extra | null = null;
  #extraChars = 0;
  /** UTF-8 bytes of text, thoughts and calls. */
  #saidBytes = 0;
  #calls: CallBuilder | null = null;
  readonly #offered: readonly string[];
  readonly #read: (json: unknown) => CompletionChunk;

  /** `offered`: the names of the tools that the request offered. `read`: an event as a chunk (way.ts). */
  constructor(offered: readonly string[] = [], read = readChunk) {
    this.#offered = offered;
    this.#read = read;
  }

  get calls(): ModelCall[] {
    const calls = this.#calls?.calls ?? [];
    // What is too long is kept of none: a signature without the others would be refused.
    return this.#hasTooMuchExtra ? calls.map(({ extra: _, ...call }) => call) : calls;
  }

  /** A call without a name came, and was left out. */
  get hasNamelessCall(): boolean {
    return this.#calls?.hasNameless ?? false;
  }

  get extra(): Extra | null {
    return this.#hasTooMuchExtra ? null : this.#extra;
  }

  get #hasTooMuchExtra(): boolean {
    return isTooMuchExtra(this.#extraChars);
  }

  /** Takes one event's data, and returns the text that it adds. Throws ModelFault. */
  take(data: string): string {
    const event = readEventData(data);
    switch (event.type) {
      case "chunk":
        return this.#add(this.#read(event.json));
      case "done":
        this.isFinished = true;
        this.isDone = true;
        return "";
      case "nothing":
        return "";
      case "broken":
        // It may have had text. Behind the end it had none.
        if (!this.isFinished) throw notUnderstood(event.error);
        return "";
    }
  }

  /** The same for the last event of a stream that ended within it: what is not whole was cut off, and adds nothing. */
  takeLast(data: string): string {
    return readEventData(data).type === "broken" ? "" : this.take(data);
  }

  /** Takes a whole answer, from a server that does not stream as requested. Throws ModelFault. */
  takeWhole(data: string): string {
    const event = readEventData(data);
    if (event.type !== "chunk") throw notUnderstood(event.type === "broken" ? event.error : undefined);
    const chunk = this.#read(event.json);
    const text = this.#add(chunk);
    // An empty list is what some servers send for a prompt that their filter blocked.
    const hasChoices = isRecord(event.json) && Array.isArray(event.json["choices"]);
    if (chunk.hasNoChoice && chunk.usage === null && !hasChoices)
      throw notUnderstood(new Error("Cannot read the answer: it has no choices"));
    this.isFinished = true;
    this.isDone = true;
    return text;
  }

  arrived(): Omit<ArrivedAnswer, "firstTextAtMs"> {
    return { usage: this.usage, isFinished: this.isFinished, bytes: this.#saidBytes + this.#extraChars };
  }

  #add(chunk: CompletionChunk): string {
    if (chunk.usage) this.usage = largerUsage(this.usage, chunk.usage);
    // Some gateways to Gemini write `stop` into each chunk, and another reason into the last.
    const goesOn = chunk.finishReason !== null && chunk.error === undefined;
    if (this.isFinished && !goesOn) return this.#addAfterEnd(chunk);
    if (chunk.error !== undefined) throw brokeOff(chunk.error);
    this.hasBegun = true;
    this.#saidBytes += Buffer.byteLength(chunk.text);
    for (const { name, arguments: args } of chunk.calls)
      this.#saidBytes += Buffer.byteLength(name) + Buffer.byteLength(args);
    this.hasChoice ||= !chunk.hasNoChoice;
    if (chunk.isLast) this.isDone = true;
    if (chunk.finishReason !== null) {
      this.isFinished = true;
      if (this.finishReason === null || this.finishReason === "stop") this.finishReason = chunk.finishReason;
    }
    this.#addExtra(chunk);
    if (chunk.calls.length > 0) (this.#calls ??= new CallBuilder(this.#offered)).add(chunk.calls);
    return chunk.text;
  }

  /** After the end only usage is read; some servers leave out [DONE] after it, and leave the connection open. */
  #addAfterEnd({ usage, hasNoChoice, text, calls }: CompletionChunk): string {
    if (usage && hasNoChoice) this.isDone = true;
    if (text !== "" || calls.length > 0) this.hasMoreAfterEnd = true;
    return "";
  }

  #addExtra({ extra, calls }: CompletionChunk): void {
    if ((extra === null && calls.length === 0) || this.#hasTooMuchExtra) return;
    this.#extraChars += extraChars(extra);
    for (const call of calls) this.#extraChars += extraChars(call.extra);
    this.#extra = this.#hasTooMuchExtra ? null : joinExtra(this.#extra, extra);
  }
}
