import { hash } from "node:crypto";

/** The bucket of a thread, `00` to `ff`: the first two hex digits of SHA-256 of its uid. Spreads threads over slots evenly. */
export function bucketOf(uid: string): string {
  return hash("sha256", uid).slice(0, 2);
}
