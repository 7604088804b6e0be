import { hash, timingSafeEqual } from "node:crypto";
import { Refusal } from "../domain/refusal.ts";
import type { Secret } from "../secret.ts";
import type { RequestHead } from "./arrival.ts";

/** The key of an `authorization: Bearer KEY` header, the scheme in any case; null for anything else. */
export function bearerFrom(header: string | undefined): string | null {
  return /^bearer +([^\s,]+)$/i.exec(header ?? "")?.[1] ?? null;
}

/** Throws Refusal("unauthorized") unless the authorization header carries the key. */
export function mustHoldKey(request: Pick<RequestHead, "headers">, isKey: IsKey): void {
  if (!holdsKey(request, isKey)) throw new Refusal("unauthorized");
}

/** Does the authorization header carry the key? */
export function holdsKey({ headers }: Pick<RequestHead, "headers">, isKey: IsKey): boolean {
  const given = bearerFrom(headers.get("authorization"));
  return given !== null && isKey(given);
}

/** Is this the expected key? */
export type IsKey = (given: string) => boolean;

/** The expected key is hashed once, and not with every request. */
export function keyCheck(expected: Secret): IsKey {
  const expectedDigest = digest(expected.reveal());
  return (given) => sameDigest(digest(given), expectedDigest);
}

/** True if the given key has the expected SHA-256, lower-case hex. */
export function hasHash(given: string, expectedHash: string): boolean {
  return sameDigest(digest(given), Buffer.from(expectedHash, "hex"));
}

/** Whose key it is, of those whose keys have these SHA-256 sums. All are compared, whoever it is. */
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

/** Compares digests: all are of one length, so the time taken shows neither a key's length nor a common prefix. */
function sameDigest(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
