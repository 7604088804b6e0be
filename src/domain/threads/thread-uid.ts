import { hash } from "node:crypto";

/**
 * The uid of a thread that a caller of the server API names: 128 bits of a SHA-256, 22 characters of base64url, so that
 * it is known before the store is asked. JSON keeps the three parts apart, whatever is in them.
 */
export function threadUid(slug: string, externalUserId: string, threadId: string): string {
  const name = JSON.stringify([slug, externalUserId, threadId]);
  return hash("sha256", name, "buffer").subarray(0, 16).toString("base64url");
}

/** Could this be the uid of a thread? */
export function looksLikeUid(text: string): boolean {
  return /^[A-Za-z0-9_-]{22}$/.test(text);
}
