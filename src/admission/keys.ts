import { hash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../secret.ts";

/** The key of an `authorization: Bearer KEY` header, the scheme in any case; null for anything else. */
export function bearerFrom(header: string | undefined): string | null {
  return /^bearer +([^\s,]+)$/i.exec(header ?? "")?.[1] ?? null;
}

/** Is this the expected key? */
export type IsKey = (given: string) => boolean;

/** Several keys may be valid, during a rotation. The expected keys are hashed once, not for every request. */
export function keyCheck(...expected: readonly Secret[]): IsKey {
  const digests = expected.map((key) => digest(key.reveal()));
  return (given) => {
    const asked = digest(given);
    // All are compared, so that the time taken does not tell which one it was.
    return digests.map((one) => sameDigest(asked, one)).includes(true);
  };
}

/** True if the given key has the expected SHA-256, lower-case hex. */
export function hasHash(given: string, expectedHash: string): boolean {
  return sameDigest(digest(given), Buffer.from(expectedHash, "hex"));
}

/** The holder of the given key, among holders with these SHA-256 sums. All are compared, whichever it is. */
export function ownerOf<Owner extends { keyHash: string }>(
  given: string,
  owners: readonly Owner[],
): Owner | null {
  const theirs = digest(given);
  const found = owners.filter(({ keyHash }) => sameDigest(theirs, Buffer.from(keyHash, "hex")));
  return found[0] ?? null;
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Compares digests, which are of one length: the time taken tells neither a key's length nor a common prefix. */
function sameDigest(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
