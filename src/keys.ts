import { createHash, randomBytes } from "node:crypto";
import { Secret } from "./secret.ts";

/** The two keys of a web channel. */
export interface ChannelKeys {
  /** `pk_…`, public. */
  publishableKey: string;
  /** `sk_…` */
  secretKey: Secret;
}

/** 256 bits: nobody guesses one, so a plain hash of it is enough to keep. */
const KEY_BYTES = 32;

export function newChannelKeys(): ChannelKeys {
  return { publishableKey: newKey("pk_"), secretKey: new Secret(newKey("sk_")) };
}

/** A random key that begins with `prefix`. */
export function newKey(prefix: string): string {
  return prefix + randomBytes(KEY_BYTES).toString("base64url");
}

/** `op_…` */
export function newOperatorKey(): Secret {
  return new Secret(newKey("op_"));
}

/** What the store keeps of a secret key: SHA-256, lower-case hex. */
export function hashKey(key: Secret): string {
  return createHash("sha256").update(key.reveal()).digest("hex");
}
