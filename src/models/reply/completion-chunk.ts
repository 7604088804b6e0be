import type { Usage } from "../../../machines/run.ts";
import type { Extra } from "../../model.ts";
import { readEnd } from "./finish-reasons.ts";
import { isRecord } from "../../is-record.ts";
import { toldUsage } from "./told-usage.ts";

/**
 * One chunk of a chat completion, as far as it is read.
 *
 * OpenAI-compatible servers differ: any field may be missing, null, or of another type than the API's. What can be read is
 * read, and the rest of the chunk counts all the same: a turn fails for what is missing, not for what is odd. So this never
 * throws, and is no schema; it takes 0.1 µs for each chunk.
 */
export interface CompletionChunk {
  text: string;
  calls: CallPart[];
  /** Fields of the message that the API does not define; null: none. */
  extra: Extra | null;
  /** Not null: the model has finished; usage may still come. A word of the API, if the server's is known (finish-reasons.ts). */
  finishReason: string | null;
  usage: Usage | null;
  /** It has no choice: if it has usage and the model has finished, it is the last chunk. */
  hasNoChoice: boolean;
  /** The server's error; undefined: none. */
  error: unknown;
  /** Nothing more will come. */
  isLast?: true;
}

/** A part of a call; fields that the chunk leaves out are empty. */
export interface CallPart {
  /** null: the server does not number its calls. */
  index: number | null;
  id: string;
  name: string;
  arguments: string;
  /** Fields of the call that the API does not define; null: none. */
  extra: Extra | null;
}

type Fields = Record<string, unknown>;

const MESSAGE_FIELDS = new Set(["role", "content", "refusal", "tool_calls", "function_call", "usage"]);
const CALL_FIELDS = new Set(["index", "id", "type", "name", "arguments", "function"]);
const FUNCTION_FIELDS = new Set(["id", "name", "arguments"]);

/** Of any JSON value: what is no chunk says nothing. */
export function readChunk(json: unknown): CompletionChunk {
  // Gemini sends an error as a list of one.
  const fields = recordIn(Array.isArray(json) ? json[0] : json) ?? {};
  const choices = listOf(fields["choices"]);
  // Only one choice was requested.
  const choice = choices.find((each) => (numberOf(each["index"]) ?? 0) === 0) ?? null;
  const read = choice === null ? null : readChoice(choice);
  return {
    text: read?.text ?? "",
    calls: read?.calls ?? [],
    extra: read?.extra ?? null,
    finishReason: read?.finishReason ?? null,
    usage: toldUsage(fields, choice, read?.message ?? null),
    hasNoChoice: choices.length === 0,
    error: errorOf(fields) ?? read?.error,
  };
}

/** In the `error` field, or (older vLLM, Mistral) the whole body is the error object. */
function errorOf(fields: Fields): unknown {
  const { error } = fields;
  if (saysSomething(error)) return error;
  return fields["object"] === "error" || fields["type"] === "error" ? fields : undefined;
}

/** Some servers send `"error": {}`, or an empty text, with each good chunk. */
function saysSomething(error: unknown): boolean {
  return isRecord(error) ? Object.values(error).some(Boolean) : Boolean(error);
}

function readChoice(choice: Fields) {
  const { delta, message, finish_reason, error } = choice;
  // `message`: the whole answer at once, from a server that does not stream.
  const said = delta ?? message;
  const fields = recordIn(said) ?? {};
  const written = endIn(finish_reason);
  const end = written === "" ? null : readEnd(written);
  return {
    message: fields,
    text: typeof said === "string" ? said : contentOf(fields["content"]) + textOf(fields["refusal"]),
    calls: callsOf(fields),
    extra: extraOf(fields, MESSAGE_FIELDS),
    finishReason: end?.reason ?? null,
    error: saysSomething(error) ? error : end?.hasFailed ? { finish_reason: written } : undefined,
  };
}

/** SGLang has an object with a type in some answers; DashScope the text `null` before the end. */
function endIn(reason: unknown): string {
  const written = textOf(isRecord(reason) ? reason["type"] : reason);
  return written === "null" ? "" : written;
}

/** The list of calls; of older servers `function_call`, the only call. */
function callsOf({ tool_calls, function_call }: Fields): CallPart[] {
  if (tool_calls !== undefined && tool_calls !== null) {
    const calls = listOf(tool_calls);
    if (calls.length > 0) return calls.map(readCall);
  }
  return isRecord(function_call) ? [readCall({ function: function_call })] : [];
}

function readCall(call: Fields): CallPart {
  const { function: called } = call;
  // Some servers leave the object out, and have its fields in the call itself.
  const {
    name,
    arguments: args,
    ...others
  } = recordIn(called) ?? { name: call["name"] ?? called, arguments: call["arguments"] };
  const ofFunction = extraOf(others, FUNCTION_FIELDS);
  const ofCall = extraOf(call, CALL_FIELDS);
  return {
    index: numberOf(call["index"]),
    id: textOf(call["id"]),
    name: textOf(name),
    // Some local servers send an object, which is not what the API says.
    arguments: typeof args === "object" && args !== null ? JSON.stringify(args) : textOf(args),
    extra: ofFunction === null ? ofCall : { ...ofCall, function: ofFunction },
  };
}

/** A text, or a list of parts. Only the text parts are read: thoughts and references do not belong to the reply. */
function contentOf(value: unknown): string {
  return Array.isArray(value) ? value.map(partIn).join("") : partIn(value);
}

function partIn(value: unknown): string {
  return isRecord(value) ? partText(value) : textOf(value);
}

const TEXT_PARTS = new Set<unknown>([undefined, null, "text", "output_text"]);

/** A thought may be a part with text, too. */
function partText({ type, text }: Fields): string {
  return TEXT_PARTS.has(type) ? textOf(text) : "";
}

function extraOf(fields: Fields, known: ReadonlySet<string>): Extra | null {
  let extra: Extra | null = null;
  for (const name in fields) {
    const value = fields[name];
    if (known.has(name) || value === null || value === undefined) continue;
    (extra ??= {})[name] = value;
  }
  return extra;
}

function recordIn(value: unknown): Fields | null {
  return isRecord(value) ? value : null;
}

/** The objects of a list; an object where a list is usual is its only one. */
function listOf(value: unknown): Fields[] {
  // Nearly always a list of one.
  if (Array.isArray(value)) return value.every(isRecord) ? value : value.filter(isRecord);
  return isRecord(value) ? [value] : [];
}

/** A number is read as the text that it may have been. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : "";
}

function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : null;
}
