import type { Usage } from "../../machines/run.ts";

/**
 * One chunk of a chat completion, as far as it is read. Checked by hand: 0.1 µs a chunk where zod takes 0.3, which is
 * 1 % of what a message of 20 chunks costs.
 *
 * OpenAI-compatible servers differ, so everything may be missing or null, and usage that makes no sense is ignored.
 */
export interface CompletionChunk {
  text: string;
  calls: CallPart[];
  /** The model has finished; usage may still come. */
  isLast: boolean;
  usage: Usage | null;
  error: unknown;
}

/** A part of a call; what the chunk leaves out is empty. */
export interface CallPart {
  index: number;
  id: string;
  name: string;
  arguments: string;
}

/** Throws TypeError if something is of a wrong type. */
export function readChunk(json: unknown): CompletionChunk {
  const { choices, usage, error } = fieldsOf(json);
  // One choice was asked for.
  const choice = listOf(choices, readChoice).find(({ index }) => index === 0);
  return {
    text: choice?.text ?? "",
    calls: choice?.calls ?? [],
    isLast: choice?.isLast ?? false,
    usage: readUsage(usage),
    error,
  };
}

function readChoice(value: unknown) {
  const { index, delta, finish_reason } = fieldsOf(value);
  const { content, refusal, tool_calls } = fieldsOf(delta ?? {});
  return {
    index: numberOf(index),
    text: textOf(content) + textOf(refusal),
    calls: listOf(tool_calls, readCall),
    isLast: textOf(finish_reason) !== "",
  };
}

function readCall(value: unknown): CallPart {
  const { index, id, function: called } = fieldsOf(value);
  const { name, arguments: args } = fieldsOf(called ?? {});
  return { index: numberOf(index), id: textOf(id), name: textOf(name), arguments: textOf(args) };
}

function readUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const { prompt_tokens: input, completion_tokens: output } = value;
  return isCount(input) && isCount(output) ? { input, output } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new TypeError("Cannot read a chunk: something in it is no object");
  return value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError("Cannot read a chunk: something in it is no list");
  return value.map(read);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new TypeError("Cannot read a chunk: something in it is no text");
  return value;
}

function numberOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number") throw new TypeError("Cannot read a chunk: something in it is no number");
  return value;
}
