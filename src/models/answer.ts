import { z } from "zod";
import type { Usage } from "../../machines/run.ts";
import { newId } from "../domain/ids.ts";
import type { ModelCall } from "../model.ts";
import { brokeOff, notUnderstood } from "./faults.ts";

// Lenient where OpenAI-compatible servers are known to differ: everything may be missing or null, and usage that makes
// no sense is no usage.
const CallDelta = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const Choice = z.object({
  index: z.number().nullish(),
  delta: z
    .object({
      content: z.string().nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(CallDelta).nullish(),
    })
    .nullish(),
  finish_reason: z.string().nullish(),
});
const tokens = z.number().int().nonnegative();
const Chunk = z.object({
  choices: z.array(Choice).nullish(),
  usage: z.object({ prompt_tokens: tokens, completion_tokens: tokens }).nullish().catch(null),
  error: z.unknown().optional(),
});

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
    if (chunk.usage) this.usage = { input: chunk.usage.prompt_tokens, output: chunk.usage.completion_tokens };
    // One choice was asked for.
    const choice = chunk.choices?.find(({ index }) => !index);
    if (!choice) return "";
    if (choice.finish_reason) this.isFinished = true;
    for (const part of choice.delta?.tool_calls ?? []) this.#addCall(part);
    return (choice.delta?.content ?? "") + (choice.delta?.refusal ?? "");
  }

  /** The id comes with a call's first part alone. Some servers number every call 0: a new id is a new call. */
  #addCall(part: z.infer<typeof CallDelta>): void {
    const index = part.index ?? 0;
    let call = this.#calls.findLast((known) => known.index === index)?.call;
    if (!call || (part.id && part.id !== call.callId)) {
      call = { callId: part.id || `call_${newId()}`, name: "", arguments: "" };
      this.#calls.push({ index, call });
    }
    if (call.name === "") call.name = part.function?.name ?? "";
    call.arguments += part.function?.arguments ?? "";
  }
}

function parseChunk(data: string): z.infer<typeof Chunk> {
  try {
    return Chunk.parse(JSON.parse(data));
  } catch (error) {
    throw notUnderstood(error);
  }
}
