import { createHash } from "node:crypto";

/** The bucket of a thread, `00` to `ff`: the first two hex digits of SHA-256 of its uid. Spreads threads over slots evenly. */
export function bucketOf(uid: string): string {
  return createHash("sha256").update(uid).digest("hex").slice(0, 2);
}
