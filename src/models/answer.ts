import type { Usage } from "../../machines/run.ts";
import { newId } from "../domain/ids.ts";
import type { ModelCall } from "../model.ts";
import { readChunk } from "./chunk.ts";
import type { CallPart, Chunk } from "./chunk.ts";
import { brokeOff, notUnderstood } from "./faults.ts";

/** A turn as it builds up from the chunks of a chat completion. */
export class Answer {
  /** Some chunk has come. */
  hasBegun = false;
  /** The model has said all it wanted; usage may still come. */
  isFinished = false;
  /** Nothing more will come. */
  isDone = false;
  usage: Usage | null = null;
  readonly #calls: { index: number; call: ModelCall }[] = [];

  get calls(): ModelCall[] {
    return this.#calls.map(({ call }) => call);
  }

  /** Takes one event's data; answers with the text that it adds. Throws ModelFault. */
  take(data: string): string {
    if (data.startsWith("[DONE]")) {
      this.isFinished = true;
      this.isDone = true;
      return "";
    }
    const chunk = parseChunk(data);
    if (chunk.error) throw brokeOff(chunk.error);
    this.hasBegun = true;
    if (chunk.usage) this.usage = chunk.usage;
    if (chunk.isLast) this.isFinished = true;
    for (const part of chunk.calls) this.#addCall(part);
    return chunk.text;
  }

  /** The id comes with a call's first part alone. Some servers number every call 0: a new id is a new call. */
  #addCall({ index, id, name, arguments: args }: CallPart): void {
    let call = this.#calls.findLast((known) => known.index === index)?.call;
    if (!call || (id !== "" && id !== call.callId)) {
      call = { callId: id || `call_${newId()}`, name: "", arguments: "" };
      this.#calls.push({ index, call });
    }
    if (call.name === "") call.name = name;
    call.arguments += args;
  }
}

function parseChunk(data: string): Chunk {
  try {
    return readChunk(JSON.parse(data));
  } catch (error) {
    throw notUnderstood(error);
  }
}
