import { wordsOf } from "./words-of.ts";

/** What a refusal says of an input that is too long for the model. */
export interface SaidTooLong {
  /** The most tokens that the model takes; null: the refusal names no number. */
  limit: number | null;
  /** The tokens of the request by the server's own count; null: the refusal names no number. */
  counted: number | null;
}

const STATUSES = new Set([400, 413, 422, 500]);

/** Codes and sentences as servers were seen to use them (test/models/too-long.test.ts has one of each). */
const TOO_LONG =
  /\bcontext_length_exceeded\b|\bexceed_context_size_error\b|\bmax_prompt_tokens_exceeded\b|\btokens_limit_reached\b|\bmax(imum)? (context|prompt|model|input) length\b|\bcontext (length|size|window|limit)\b.{0,60}\bexceed|\bexceed(s|ed|ing)?\b.{0,40}\b(context (length|size|window|limit)|token limit)\b|\blonger than the models? (s )?context length\b|\bcontext length of only \d|\b(prompt|input|request) is too long\b|\btoken count\b.{0,40}\bexceeds\b|\btokens exceed the\b|\breduce the length of (the|your) (messages|prompt|input)\b|\breduce your message size\b|\btoo large for .{1,60} tokens\b|\btokens \+ max_new_tokens must be\b|\brange of input length\b|\bexceeds max length\b/i;

/** A single request over the tokens of a minute: waiting does not help. Any other 429 passes. */
const TOO_LARGE_FOR_RATE = /\brequest too large\b/i;

/** What the refusal says; null: it is about something else. */
export function tooLong({ status, text }: { status: number; text: string }): SaidTooLong | null {
  const words = wordsOf(text);
  const isMeant =
    status === 429 ? TOO_LARGE_FOR_RATE.test(words) : STATUSES.has(status) && TOO_LONG.test(words);
  return isMeant ? numbersIn(words) : null;
}

const LIMIT =
  /\b(?:n_ctx|length|size|limit|window|allowed)(?: is| of| should be)?(?: only| 1)? (\d{3,9})\b|[<>]=? (\d{3,9})\b|\b(\d{3,9}) maximum\b/gi;

/** A count can stand where a limit does ("length is 9000 while limit is 8192"): the limit is the smallest, the count the largest. */
function numbersIn(words: string): SaidTooLong {
  const limits = [...words.matchAll(LIMIT)].map(([, named, compared, maximum]) =>
    Number(named ?? compared ?? maximum),
  );
  if (limits.length === 0) return { limit: null, counted: null };
  const limit = Math.min(...limits);
  const largest = Math.max(...[...words.matchAll(/\b\d{3,9}\b/g)].map(([number]) => Number(number)));
  return { limit, counted: largest > limit ? largest : null };
}
