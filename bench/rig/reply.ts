/**
 * The reply of the benchmark's model: 20 chunks, the first of which repeats the nonce of the message. So a client that
 * compares the whole text knows that it has this message's complete reply.
 */
const NONCE_CHARS = 8;
const MARK = "nonce-";

const WORDS = " it will be there in two or three days, and we tell you as soon as it has left us".match(
  /.{4}/g,
);

/** Texts of the chunks after the first. */
export const restChunks: readonly string[] = (WORDS ?? []).slice(0, 19);

const rest = restChunks.join("");

export function replyTo(nonce: string): string {
  return nonce + rest;
}

let count = 0;

export function newNonce(): string {
  count = (count + 1) % 36 ** NONCE_CHARS;
  return count.toString(36).padStart(NONCE_CHARS, "0");
}

/** A message of 80 characters, like a visitor's. */
export function textWith(nonce: string): string {
  return `Where is the red lamp that I ordered last week? My order is ${MARK}${nonce}`.padEnd(80, ".");
}

/** The last nonce in a text, which is the newest message's; empty if there is none. */
export function lastNonce(text: string): string {
  const at = text.lastIndexOf(MARK);
  return at < 0 ? "" : text.slice(at + MARK.length, at + MARK.length + NONCE_CHARS);
}
