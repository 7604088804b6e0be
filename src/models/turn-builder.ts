import type { Usage } from "../../machines/run.ts";
import { newId } from "../domain/ids.ts";
import type { Extra, ModelCall } from "../model.ts";
import { readChunk } from "./completion-chunk.ts";
import type { CallPart, CompletionChunk } from "./completion-chunk.ts";
import { joinExtra } from "./extra.ts";
import { brokeOff, notUnderstood } from "./faults.ts";

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
  usage: Usage | null = null;
  finishReason: string | null = null;
  extra: Extra | null = null;
  readonly calls: ModelCall[] = [];
  /** The latest call of each index. */
  readonly #latest = new Map<number, OpenCall>();
  readonly #ids = new Set<string>();

  /** Takes one event's data, and returns the text that it adds. Throws ModelFault. */
  take(data: string): string {
    // Some servers keep a connection alive with events that have no content.
    if (data.trim() === "") return "";
    if (data.startsWith("[DONE]")) {
      this.isFinished = true;
      this.isDone = true;
      return "";
    }
    return this.#add(data);
  }

  /** Takes a whole answer, from a server that does not stream as requested. */
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
    this.hasChoice ||= !chunk.hasNoChoice;
    if (chunk.usage) this.usage = chunk.usage;
    // Some servers leave out [DONE], and leave the connection open.
    if (chunk.usage && chunk.hasNoChoice && this.isFinished) this.isDone = true;
    if (chunk.finishReason !== null) {
      this.isFinished = true;
      this.finishReason ??= chunk.finishReason;
    }
    if (chunk.extra) this.extra = joinExtra(this.extra, chunk.extra);
    const known = this.calls.length;
    for (const part of chunk.calls) this.#addCall(part, known);
    return chunk.text;
  }

  /** `known`: how many calls there were before this chunk. */
  #addCall(part: CallPart, known: number): void {
    const { index, id, name, arguments: args, extra } = part;
    const latest = this.#latest.get(index);
    let call = latest?.call;
    if (!latest || !call || isAnother(latest, part, this.calls.indexOf(call) >= known)) {
      // Results are matched to calls by id, so each id must be unique.
      call = { callId: id === "" || this.#ids.has(id) ? `call_${newId()}` : id, name: "", arguments: "" };
      this.#ids.add(call.callId);
      this.#latest.set(index, { call, id });
      this.calls.push(call);
    }
    if (call.name === "") call.name = name;
    call.arguments += args;
    const joined = joinExtra(call.extra ?? null, extra);
    if (joined !== null) call.extra = joined;
  }
}

interface OpenCall {
  call: ModelCall;
  /** The server's id; empty: it sent none. */
  id: string;
}

/**
 * Does this part begin a new call, and not continue the latest of its index? A new id says so. Some servers number
 * every call 0, and some of these send no ids: then a name comes with a call's first part, or is repeated with each
 * part.
 */
function isAnother({ call, id: latestId }: OpenCall, part: CallPart, isOfThisChunk: boolean): boolean {
  const { id, name, arguments: args } = part;
  if (id !== "" && id !== latestId) return true;
  if (name === "" || call.name === "") return false;
  if (id === "" && (name !== call.name || isOfThisChunk)) return true;
  return args.trim() !== "" && isWhole(call.arguments);
}

function isWhole(args: string): boolean {
  if (!args.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}

function parseChunk(data: string): CompletionChunk {
  try {
    return readChunk(JSON.parse(data));
  } catch (error) {
    throw notUnderstood(error);
  }
}
