import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { meaningOf } from "./codes.ts";
import { ALL_SENTENCES } from "./profiles.ts";
import type { Profile } from "./profiles.ts";
import type { Refusal } from "./refusal.ts";
import { hear } from "./sentences.ts";
import type { Sentence } from "./sentences.ts";

/** What a refusal says of an input that is too long for the model. */
export interface SaidTooLong {
  /** The most tokens that the model takes; null: the refusal names no number. */
  limit: number | null;
  /** The tokens of the request by the server's own count; null: the refusal names no number. */
  counted: number | null;
  /** False: for this turn only, as in learn.ts. */
  lasts: boolean;
}

/** By a code; whatever the sentence is. */
const BY_CODE = new Set([400, 413, 422]);

/** What the refusal says; null: it is about something else. `body`: of the request; null: not known any more. */
export function tooLong(
  refusal: Refusal,
  { body, profile }: { body: ChatCompletionCreateParamsStreaming | null; profile: Profile | null },
): SaidTooLong | null {
  const { status } = refusal;
  // A request above the tokens of a minute, or too many bytes for a proxy, is no limit of the model.
  const isOfModel = status !== 413 && status !== 429;
  const own = profile && heardIn(profile.sentences, refusal, body);
  const numbers = own ?? heardIn(ALL_SENTENCES, refusal, body);
  const isByCode = BY_CODE.has(status) && meaningOf(refusal.codes) === "tooLong";
  if (numbers === null && !isByCode) return null;
  return {
    limit: refusal.limit ?? numbers?.limit ?? null,
    counted: refusal.counted ?? numbers?.counted ?? null,
    lasts: isOfModel && (isByCode || own !== null),
  };
}

function heardIn(
  sentences: readonly Sentence[],
  { message, status }: Refusal,
  body: ChatCompletionCreateParamsStreaming | null,
): { limit: number | null; counted: number | null } | null {
  const about = sentences.filter(({ means }) => means === "tooLong");
  const [heard] = hear(message, about, { status, body }) ?? [];
  if (!heard) return null;
  const { limit, counted } = heard.slots;
  return { limit: limit ? Number(limit) : null, counted: counted ? Number(counted) : null };
}
