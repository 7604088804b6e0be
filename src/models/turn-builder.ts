import type { Usage } from "../../machines/run.ts";
import { newId } from "../domain/ids.ts";
import type { Extra, ModelCall } from "../model.ts";
import { readChunk } from "./completion-chunk.ts";
import type { CallPart, CompletionChunk } from "./completion-chunk.ts";
import { joinExtra } from "./extra.ts";
import { brokeOff, notUnderstood } from "./faults.ts";

/** Builds a turn from the chunks of a chat completion. */
export class TurnBuilder {
  /** Some chunk has come. */
  hasBegun = false;
  /** The model has finished; usage may still come. */
  isFinished = false;
  /** Nothing more will come. */
  isDone = false;
  usage: Usage | null = null;
  finishReason: string | null = null;
  extra: Extra | null = null;
  readonly calls: ModelCall[] = [];
  /** The latest call of each index. */
  readonly #latest = new Map<number, ModelCall>();

  /** Takes one event's data, and returns the text that it adds. Throws ModelFault. */
  take(data: string): string {
    if (data.startsWith("[DONE]")) {
      this.isFinished = true;
      this.isDone = true;
      return "";
    }
    return this.#add(data);
  }

  /** Takes an answer that was not streamed, though that was asked for. */
  takeWhole(data: string): string {
    const text = this.#add(data);
    this.isFinished = true;
    this.isDone = true;
    return text;
  }

  #add(data: string): string {
    const chunk = parseChunk(data);
    if (chunk.error) throw brokeOff(chunk.error);
    this.hasBegun = true;
    if (chunk.usage) this.usage = chunk.usage;
    if (chunk.finishReason !== null) {
      this.isFinished = true;
      this.finishReason ??= chunk.finishReason;
    }
    if (chunk.extra) this.extra = joinExtra(this.extra, chunk.extra);
    for (const part of chunk.calls) this.#addCall(part);
    return chunk.text;
  }

  /** The id comes with a call's first part alone. Some servers number every call 0: a new id is a new call. */
  #addCall({ index, id, name, arguments: args, extra }: CallPart): void {
    let call = this.#latest.get(index);
    if (!call || (id !== "" && id !== call.callId)) {
      call = { callId: id || `call_${newId()}`, name: "", arguments: "" };
      this.#latest.set(index, call);
      this.calls.push(call);
    }
    if (call.name === "") call.name = name;
    call.arguments += args;
    const joined = joinExtra(call.extra ?? null, extra);
    if (joined !== null) call.extra = joined;
  }
}

function parseChunk(data: string): CompletionChunk {
  try {
    return readChunk(JSON.parse(data));
  } catch (error) {
    throw notUnderstood(error);
  }
}
