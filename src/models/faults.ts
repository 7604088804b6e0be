import { APIConnectionError } from "openai";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { cutText } from "../../machines/line.ts";
import { ModelFault, WITHHELD } from "../model.ts";
import { meaningOf } from "./refusals/codes.ts";
import { ErrorAnswer } from "./refusals/error-answer.ts";
import { isMalformedEnd } from "./reply/finish-reasons.ts";
import { isRecord } from "../is-record.ts";
import { ALL_SENTENCES } from "./refusals/profiles.ts";
import type { Profile } from "./refusals/profiles.ts";
import { refusalOf } from "./refusals/refusal.ts";
import type { Refusal } from "./refusals/refusal.ts";
import { hear } from "./refusals/sentences.ts";
import type { Meaning } from "./refusals/sentences.ts";
import { tooLong } from "./refusals/too-long.ts";
import type { SaidTooLong } from "./refusals/too-long.ts";

/**
 * The faults of a model: a closed set of sentences that visitors may read, without key or address. The real error is
 * the cause, for the log only.
 */

/** Another model may do better: a chain asks its next one, as long as no text of the turn was passed on. */
export class OtherMayAnswer extends ModelFault {
  /** The server is ill, so other turns ask it later. False: it was about this request alone. */
  readonly rests: boolean;

  constructor(message: string, { cause, rests = true }: { cause: unknown; rests?: boolean }) {
    super(message, { cause });
    this.rests = rests;
  }
}

/** A fault that may pass: the same model is worth another try, too. */
export class PassingFault extends OtherMayAnswer {
  /** How long the server asked not to be called; null if it did not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { cause: unknown; rests?: boolean; retryAfterMs?: number | null }) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The server refuses our key, or requires payment first. */
export class KeyRefused extends OtherMayAnswer {}

/** The server has no such model, or none any more. */
export class Gone extends OtherMayAnswer {}

/** The input is longer than the model takes, with as little history as possible. Another model may take more. */
export class TooLong extends OtherMayAnswer {
  readonly said: SaidTooLong;

  constructor(said: SaidTooLong, cause: unknown) {
    super("The message is too long for the model", { cause, rests: false });
    this.said = said;
  }
}

/** The same fault, without another try: text of the turn was passed on already, and would be repeated. */
export function forGood(error: unknown): unknown {
  return error instanceof PassingFault || error instanceof TooLong
    ? new ModelFault(error.message, { cause: error.cause })
    : error;
}

/** The server sent nothing for too long. */
class FellSilent extends OtherMayAnswer {}

/** Did the server take the request, and then say nothing? Of an error of the openai package, as of a fault. */
export function isSilence(error: unknown): boolean {
  return error instanceof FellSilent || (error instanceof Error && error.cause instanceof FellSilent);
}

export const fellSilent = () => new FellSilent("The model fell silent", { cause: undefined });
/** An answer of status 200 that is none: a web page, JSON of another kind. */
export const notUnderstood = (cause: unknown) =>
  new OtherMayAnswer("The model's answer was not understood", { cause });
/** The model tried to call a tool, and its server made no call of it. Another try may be better. */
export const malformedCall = (cause: unknown) =>
  new PassingFault("The model's answer was not understood", { cause, rests: false });
export const cutOff = (cause?: unknown) => new PassingFault("The model's answer was cut off", { cause });
/** It ended in good order without a single choice: some servers say by that that a filter blocked the prompt. */
export class NoChoice extends PassingFault {
  constructor() {
    super("The model's answer was cut off", {
      cause: new Error("Cannot read the answer: it has no choices"),
    });
  }
}
/** A turn without text and calls, or with a call that nobody can read. */
export const uselessTurn = (cause: unknown) =>
  new OtherMayAnswer("The model gave no answer", { cause, rests: false });

/** Of what a server says in an error, in the log. */
const MAX_LOGGED_CHARS = 2_000;

/** An error inside a stream that began well; some servers send an HTTP status as its code. */
export function brokeOff(error: unknown): ModelFault {
  // An Error, since the log writes no other cause.
  const cause = new Error(`The server said: ${cutText(JSON.stringify(error) ?? "", MAX_LOGGED_CHARS)}`);
  const fields = isRecord(error) ? error : {};
  const { finish_reason: finishReason } = fields;
  if (typeof finishReason === "string" && isMalformedEnd(finishReason)) return malformedCall(cause);
  const code = Number(fields["code"]);
  const isStatus = Number.isInteger(code) && code >= 400 && code <= 599;
  const refusal = refusalOf(isStatus ? code : 400, { error });
  const said = tooLong(refusal, { body: null, profile: null });
  if (said !== null) return new TooLong(said, cause);
  const meant = faultByMeaning(meantBy(refusal, { body: null, profile: null }), refusal, cause);
  if (meant) return meant;
  if (!isStatus) return new PassingFault("The model answered with an error", { cause });
  const fault = answeredWith(code, cause, null);
  // The next one is asked even where the request was refused: this one began to answer it.
  return fault instanceof OtherMayAnswer ? fault : new OtherMayAnswer(fault.message, { cause, rests: false });
}

/**
 * The fault for an error of a request; any other error is not the model's, and is returned unchanged.
 * `refused`: what was refused, and by whom; null: nothing was.
 */
export function modelFaultOf(
  error: unknown,
  refused: { refusal: Refusal; body: ChatCompletionCreateParamsStreaming; profile: Profile | null } | null,
): unknown {
  if (error instanceof APIConnectionError) {
    if (error.cause instanceof ModelFault) return error.cause;
    return new PassingFault("The model cannot be reached", { cause: error });
  }
  if (!(error instanceof ErrorAnswer)) return error;
  const meant = refused && faultByMeaning(meantBy(refused.refusal, refused), refused.refusal, error);
  return meant ?? answeredWith(error.status, error, retryAfterMs(error.headers));
}

/** Only for a refusal of the request: with other statuses the status alone decides, but for a filter's 403. */
const OF_REQUEST = new Set([400, 403, 404, 410, 422]);

interface Meant {
  meaning: Meaning;
  /** By a code, or a sentence of the server's own row: it may decide of other turns, too. */
  isSure: boolean;
}

/** By a code, else by a whole sentence: of any known server, where its own row is not known. */
function meantBy(
  { status, message, codes }: Refusal,
  { body, profile }: { body: ChatCompletionCreateParamsStreaming | null; profile: Profile | null },
): Meant | null {
  if (!OF_REQUEST.has(status)) return null;
  const byCode = meaningOf(codes);
  if (byCode !== null) return { meaning: byCode, isSure: true };
  const [heard] = hear(message, profile?.sentences ?? ALL_SENTENCES, { status, body }) ?? [];
  return heard ? { meaning: heard.sentence.means, isSure: profile !== null } : null;
}

function faultByMeaning(meant: Meant | null, { status }: Refusal, cause: unknown): ModelFault | null {
  if (!meant) return null;
  const { meaning, isSure: rests } = meant;
  if (meaning === "withheld") return new ModelFault(WITHHELD, { cause });
  if (meaning === "keyRefused") return new KeyRefused(errorSentence(status), { cause, rests });
  if (meaning === "gone") return new Gone(errorSentence(status), { cause, rests });
  return meaning === "again" ? new PassingFault(errorSentence(status), { cause, rests: false }) : null;
}

const errorSentence = (status: number) => `The model answered with an error (${status})`;

/** 424: what stands behind the server failed (Text Generation Inference, Groq). Redirects are not followed: push-fetch.ts. */
const MAY_PASS = new Set([408, 409, 424, 425, 429]);

function answeredWith(status: number, cause: unknown, afterMs: number | null): ModelFault {
  const message = errorSentence(status);
  if (status === 401 || status === 402 || status === 403) return new KeyRefused(message, { cause });
  if (status === 404 || status === 410) return new Gone(message, { cause });
  if (status < 400 || status === 405) return new OtherMayAnswer(message, { cause });
  return MAY_PASS.has(status) || status >= 500
    ? new PassingFault(message, { cause, retryAfterMs: afterMs })
    : new ModelFault(message, { cause });
}

/** `retry-after-ms`, else `retry-after` in seconds or as a date; null if neither can be read. */
function retryAfterMs(headers: Headers): number | null {
  const ms = headers.get("retry-after-ms");
  if (ms && Number(ms) >= 0) return Number(ms);
  const after = headers.get("retry-after");
  if (!after) return null;
  const waitMs = Number(after) >= 0 ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}
