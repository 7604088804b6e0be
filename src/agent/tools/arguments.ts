import { isRecord } from "../../is-record.ts";
import { cutText } from "../../../machines/line.ts";
import { isDeeperThan } from "./picked-schema.ts";

/** The additional argument of every offered tool: a sentence of progress for the visitor (contract, The model's tools). */
export const PROGRESS = "_progress";

/** Longer than any argument a page or a server asks for; the whole of it is saved, sent and shown to the model again. */
const MAX_ARGUMENTS_CHARS = 100_000;

/** Deeper JSON could not be serialized again by everything that it passes through. */
const MAX_DEPTH = 32;

const PROGRESS_CHARS = 200;

export type ParsedArguments =
  /** `text`: the JSON text of the object. */
  { fits: true; arguments: Record<string, unknown>; text: string } | { fits: false; reason: string };

/** What some servers send for no arguments: nothing, JSON's null, Python's, JavaScript's. */
const NOTHING = new Set(["", "null", "None", "undefined"]);

/**
 * Parses the model's arguments: the JSON text of an object. Taken too, since they can mean nothing else: a text for no
 * arguments, whose schema then says whether there must be some; and an object that was written as JSON twice (Granite on
 * vLLM, GLM on SGLang).
 */
export function parseArguments(text: string): ParsedArguments {
  if (NOTHING.has(text.trim())) return { fits: true, arguments: {}, text: "{}" };
  if (text.length > MAX_ARGUMENTS_CHARS) {
    return { fits: false, reason: `the arguments are longer than ${MAX_ARGUMENTS_CHARS} characters` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fits: false, reason: `the arguments are not valid JSON (${cutText(String(error), 200)})` };
  }
  const isTwice = typeof value === "string";
  if (typeof value === "string") value = parsedAgain(value);
  if (!isRecord(value)) return { fits: false, reason: "the arguments are not a JSON object" };
  if (isDeeperThan(value, MAX_DEPTH)) {
    return { fits: false, reason: `the arguments are nested deeper than ${MAX_DEPTH} levels` };
  }
  return { fits: true, arguments: value, text: isTwice ? JSON.stringify(value) : text };
}

function parsedAgain(text: string): unknown {
  if (NOTHING.has(text.trim())) return {};
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Takes `_progress` out of the arguments; `text` is null if the model gave none that can be shown. */
export function takeProgress(args: Record<string, unknown>): {
  text: string | null;
  rest: Record<string, unknown>;
} {
  const { [PROGRESS]: progress, ...rest } = args;
  const text = typeof progress === "string" ? cutText(progress.trim(), PROGRESS_CHARS) : "";
  return { text: text === "" ? null : text, rest };
}
