import type { FittedInput, ModelRequest } from "../model.ts";
import type { SaidTooLong } from "./refusals/too-long.ts";

/** How often a turn is made shorter: from 32,000 tokens, halved each time, to 4,000. */
const MOST_CUTS = 3;
/** The rest of a model's context is left for its answer. */
const INPUT_SHARE = 0.75;
/** A token is a byte at least, and the estimate has four bytes to a token: a larger count is another number, of an id or a time. */
const MOST_COUNTED = 4;

/** The request of one turn for one model, made shorter while the model refuses it as too long. */
export interface InputFit {
  request(): ModelRequest;
  /** False if nothing more can be left out, or it was tried often enough. */
  shorten(said: SaidTooLong): boolean;
  /** The limit that was found, in estimated tokens; null: nothing was refused. Known to hold once the model has answered. */
  found(): number | null;
}

/** `limit`: the model's, as found by an earlier turn; null: unknown. */
export function fitInput(request: ModelRequest, limit: number | null): InputFit {
  let cuts = 0;
  let found: number | null = null;
  let sent: FittedInput | null = limit === null ? null : (request.fit?.(limit) ?? null);
  return {
    request: () => (sent ? { ...request, messages: sent.messages } : request),
    shorten(said) {
      const { tokens } = sent ?? request.fit?.(Number.POSITIVE_INFINITY) ?? { tokens: 0 };
      const lower = lowerLimit(tokens, said);
      const shorter = request.fit?.(lower);
      if (shorter === undefined || shorter.tokens >= tokens || cuts === MOST_CUTS) return false;
      cuts += 1;
      // The question is never cut: where it alone is longer, the model takes that much.
      found = Math.max(lower, shorter.tokens);
      sent = shorter;
      return true;
    },
    found: () => found,
  };
}

/** Our estimate and the server's count differ: what was sent is scaled by the two numbers of the refusal. */
function lowerLimit(sent: number, { limit, counted }: SaidTooLong): number {
  const half = Math.floor(sent / 2);
  if (limit === null) return half;
  const room = limit * INPUT_SHARE;
  const isCount = counted !== null && counted <= sent * MOST_COUNTED;
  const lower = Math.floor(isCount ? (sent * room) / counted : room);
  return lower < sent ? lower : half;
}
