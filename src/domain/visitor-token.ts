import { hash, randomBytes } from "node:crypto";

/**
 * A visitor token: `vt_SLUG_` and 256 random bits in base64url. The slug is only a hint where to look: what is stored is
 * the hash of the whole text, so a token with another slug is another token.
 */
export interface TokenClaim {
  slug: string;
  /** SHA-256, lower-case hex: what the store knows a token by. */
  tokenHash: string;
}

const TOKEN_BYTES = 32;

/** A new token of a web channel. */
export function newVisitorToken(slug: string): string {
  return `vt_${slug}_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
}

/** What a text claims to be a token of; null where it has not the shape of one, and no store needs to be asked. */
export function readVisitorToken(text: string): TokenClaim | null {
  const slug = /^vt_([a-z0-9_-]{1,64})_[A-Za-z0-9_-]{43}$/.exec(text)?.[1];
  if (slug === undefined) return null;
  return { slug, tokenHash: hash("sha256", text) };
}
