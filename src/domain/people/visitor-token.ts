import { hash, randomBytes } from "node:crypto";

/**
 * A visitor token: `vt_SLUG_` and 256 random bits in base64url. The slug only tells where to look: the store has the hash of
 * the whole text, so a token with another slug is another token.
 */
export interface TokenClaim {
  slug: string;
  /** SHA-256, lower-case hex: the store's name of the token. */
  tokenHash: string;
}

const TOKEN_BYTES = 32;

/** A new token of a web channel. */
export function newVisitorToken(slug: string): string {
  return `vt_${slug}_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
}

/** The slug and hash of a token; null if malformed; skips the store. */
export function readVisitorToken(text: string): TokenClaim | null {
  const slug = /^vt_([a-z0-9_-]{1,64})_[A-Za-z0-9_-]{43}$/.exec(text)?.[1];
  if (slug === undefined) return null;
  return { slug, tokenHash: hash("sha256", text) };
}
