import { MAX_TOOLS } from "../../domain/channels/offerable-tools.ts";
import type { Offer, Offers } from "./tools.ts";

/** Of the tokens of AGENT_MAX_INPUT_TOKENS; the rest is for the conversation, whatever tools there are. */
const SHARE_OF_TOOLS = 3 / 4;

export interface FittedOffers {
  offers: Offers;
  /** Those that are not offered, by no name of theirs. */
  leftOut: readonly Offer[];
  /** Estimated, of those that are offered. */
  tokens: number;
}

/**
 * The offers of a turn within what a model's API takes and what an operator pays for: as many as fit, with `own` tools beside
 * them. The first ones stay if there are too many, the smallest if they are too long: one tool of 16,000 tokens costs no
 * other its place. The same offers give the same answer, or prompts could not be cached.
 */
export function fitOffers(
  offers: Offers,
  { own, maxInputTokens }: { own: number; maxInputTokens: number },
): FittedOffers {
  const all = [...offers];
  const counted = all
    .slice(0, MAX_TOOLS - own)
    .map(([name, offer]) => ({ name, offer, tokens: tokensOf(offer) }));
  const kept = new Set(counted);
  let left =
    Math.floor(maxInputTokens * SHARE_OF_TOOLS) - counted.reduce((sum, { tokens }) => sum + tokens, 0);
  if (left < 0) {
    for (const one of counted.toSorted((a, b) => b.tokens - a.tokens)) {
      if (left >= 0) break;
      kept.delete(one);
      left += one.tokens;
    }
  }
  const fitting = new Map([...kept].map(({ name, offer }) => [name, offer]));
  return {
    offers: fitting,
    leftOut: all.filter(([name]) => !fitting.has(name)).map(([, offer]) => offer),
    tokens: [...kept].reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** Four bytes to a token, as of messages (history-budget.ts). */
function tokensOf({ offered }: Offer): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(offered)) / 4);
}
