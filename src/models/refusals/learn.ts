import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { meaningOf } from "./codes.ts";
import { ALL_SENTENCES } from "./profiles.ts";
import type { Profile } from "./profiles.ts";
import type { Step } from "./quirk-steps.ts";
import type { Quirks } from "./quirks.ts";
import type { Refusal } from "./refusal.ts";
import { hear } from "./sentences.ts";
import { isGuess, stepAt, STEPS } from "./steps.ts";

/**
 * What a refused request teaches: how the next one must differ. It is read from the refusal's codes and places, and from
 * whole sentences of known servers, and applies only to what this request contained: so a request is repeated a few
 * times at most.
 */
export interface Lesson {
  /** The quirks with the lesson; null if it changes nothing. */
  apply(quirks: Quirks): Quirks | null;
  /**
   * False: it is for this turn only. The sentence is not of this server's own row in profiles.ts, so somebody else may
   * have written it, or the status says nothing of the next request.
   */
  lasts: boolean;
}

export interface Refused {
  refusal: Refusal;
  body: ChatCompletionCreateParamsStreaming;
  /** The server's row; null: it is not known. */
  profile: Profile | null;
}

type Body = ChatCompletionCreateParamsStreaming;

/** Other statuses are about the server, the key or the model, and not about the form of a request. */
const TEACHING = new Set([400, 422]);
/** A sentence of a known server with one of these is of this turn alone: which server answers may differ each time. */
const PASSING = new Set([404, 413, 429]);

/** The lesson of a refusal; null: it teaches nothing that a repeat could use. */
export function learn({ refusal, body, profile }: Refused, quirks: Quirks): Lesson | null {
  for (const { step, lasts } of lessons({ refusal, body, profile })) {
    if (step(quirks) !== null) return { apply: step, lasts };
  }
  return null;
}

function* lessons({ refusal, body, profile }: Refused): Iterable<{ step: Step; lasts: boolean }> {
  const { status } = refusal;
  if (profile) yield* ofSentences(refusal, profile.sentences, { body, lasts: !PASSING.has(status) });
  if (!TEACHING.has(status)) return;
  const meaning = meaningOf(refusal.codes);
  const ofCode = meaning && STEPS[meaning];
  if (ofCode) yield { step: ofCode({ body, slots: {}, names: null }), lasts: true };
  const steps = refusal.places.map((place) => stepAt(place, body)).filter((step) => step !== null);
  if (steps.length > 0) yield { step: all(steps), lasts: true };
  yield* ofSentences(refusal, ALL_SENTENCES, { body, lasts: false });
}

function* ofSentences(
  { status, message }: Refusal,
  sentences: Profile["sentences"],
  { body, lasts }: { body: Body; lasts: boolean },
): Iterable<{ step: Step; lasts: boolean }> {
  const heard = hear(message, sentences, { status, body }) ?? [];
  const steps = heard.flatMap(({ sentence: { means, names = null }, slots }) => {
    const step = STEPS[means]?.({ body, slots, names });
    return step ? [{ step, isGuess: isGuess(means, slots, body) }] : [];
  });
  if (steps.length === 0) return;
  yield { step: all(steps.map(({ step }) => step)), lasts: lasts && steps.every((each) => !each.isGuess) };
}

/** All of them, in order; null if none changes anything. */
function all(steps: readonly Step[]): Step {
  return (quirks) => {
    const after = steps.reduce((known, step) => step(known) ?? known, quirks);
    return after === quirks ? null : after;
  };
}
