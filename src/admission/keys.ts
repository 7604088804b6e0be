import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../secret.ts";

/** The key of an `authorization: Bearer KEY` header: the scheme in any case, one or more spaces; null for anything else. */
export function bearerFrom(header: string | undefined): string | null {
  return /^bearer +([^\s,]+)$/i.exec(header ?? "")?.[1] ?? null;
}

/** True where the given key is the expected one. */
export function isKey(given: string, expected: Secret): boolean {
  return sameDigest(digest(given), digest(expected.reveal()));
}

/** True where the given key has the expected SHA-256, lower-case hex. */
export function hasHash(given: string, expectedHash: string): boolean {
  return sameDigest(digest(given), Buffer.from(expectedHash, "hex"));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Digests are equally long whatever the keys are, so that neither length nor a common prefix shows in the time taken. */
function sameDigest(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
