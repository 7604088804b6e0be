import { APIConnectionError, APIError } from "openai";
import { ModelFault, WITHHELD } from "../model.ts";
import { tooLong } from "./too-long.ts";
import type { SaidTooLong } from "./too-long.ts";

/**
 * The faults of a model: a closed set of sentences that visitors may read, without key or address. The real error is
 * the cause, for the log only.
 */

/** A fault that may pass: worth another try, as long as no text of the turn was passed on. */
export class PassingFault extends ModelFault {
  /** How long the server asked not to be called; null if it did not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { cause: unknown; retryAfterMs?: number | null }) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The server refuses our key, or requires payment first. */
export class KeyRefused extends ModelFault {}

/** The input is longer than the model takes, with as little history as possible. Another model may take more. */
export class TooLong extends ModelFault {
  readonly said: SaidTooLong;

  constructor(said: SaidTooLong, cause: unknown) {
    super("The message is too long for the model", { cause });
    this.said = said;
  }
}

/** The server sent nothing for too long. */
class FellSilent extends ModelFault {}

/** May another provider do better? A fault of the request itself is a fault everywhere. */
export function mayFallOver(error: unknown): error is ModelFault {
  return error instanceof PassingFault || error instanceof KeyRefused || error instanceof FellSilent;
}

/** The same fault, without another try: text of the turn was passed on already, and would be repeated. */
export function forGood(error: unknown): unknown {
  return error instanceof PassingFault || error instanceof TooLong
    ? new ModelFault(error.message, { cause: error.cause })
    : error;
}

export const fellSilent = () => new FellSilent("The model fell silent");
export const notUnderstood = (cause: unknown) =>
  new ModelFault("The model's answer was not understood", { cause });
export const cutOff = (cause?: unknown) => new PassingFault("The model's answer was cut off", { cause });

/** An error inside a stream that began well; some servers send an HTTP status as its code. */
export function brokeOff(error: unknown): ModelFault {
  const code =
    typeof error === "object" && error !== null && "code" in error ? Number(error.code) : Number.NaN;
  const isStatus = Number.isInteger(code) && code >= 400 && code <= 599;
  const said = tooLong({ status: isStatus ? code : 400, text: JSON.stringify(error) ?? "" });
  if (said !== null) return new TooLong(said, error);
  return isStatus
    ? answeredWith(code, error, null)
    : new PassingFault("The model answered with an error", { cause: error });
}

/**
 * The fault for an error of the openai package; any other error is not the model's, and is returned unchanged. `said`:
 * the text of a refusal; null: none.
 */
export function modelFaultOf(error: unknown, said: string | null): unknown {
  if (error instanceof APIConnectionError) {
    if (error.cause instanceof ModelFault) return error.cause;
    return new PassingFault("The model cannot be reached", { cause: error });
  }
  if (error instanceof APIError && error.status !== undefined) {
    const words = error.status === 400 ? (said ?? "") : "";
    if (REFUSES_KEY.test(words)) return new KeyRefused(errorSentence(400), { cause: error });
    if (REFUSES_CONTENT.test(words)) return new ModelFault(WITHHELD, { cause: error });
    return answeredWith(error.status, error, retryAfterMs(error.headers));
  }
  return error;
}

/** Gemini and xAI refuse a key with status 400; xAI's text may be percent-encoded. */
const REFUSES_KEY =
  /\bAPI_KEY_INVALID\b|\bapi key (not valid|not found|expired)\b|\b(incorrect|invalid)( |%20)api( |%20)key\b/i;

/** The texts of Azure, OpenAI, DeepSeek and Alibaba for a prompt that their filters refuse. */
const REFUSES_CONTENT =
  /"content_filter"|\bcontent management policy\b|"invalid_prompt"|\bContent Exists Risk\b|\bdata_?inspection_?failed\b/i;

const errorSentence = (status: number) => `The model answered with an error (${status})`;

function answeredWith(status: number, cause: unknown, afterMs: number | null): ModelFault {
  const message = errorSentence(status);
  if (status === 401 || status === 402 || status === 403) return new KeyRefused(message, { cause });
  const mayPass = status === 408 || status === 409 || status === 429 || status >= 500;
  return mayPass
    ? new PassingFault(message, { cause, retryAfterMs: afterMs })
    : new ModelFault(message, { cause });
}

/** `retry-after-ms`, else `retry-after` in seconds or as a date; null if neither can be read. */
function retryAfterMs(headers: Headers | undefined): number | null {
  const ms = headers?.get("retry-after-ms");
  if (ms && Number(ms) >= 0) return Number(ms);
  const after = headers?.get("retry-after");
  if (!after) return null;
  const waitMs = Number(after) >= 0 ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}
