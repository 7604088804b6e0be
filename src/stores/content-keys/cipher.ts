import { createCipheriv, createDecipheriv, randomFillSync } from "node:crypto";
import type { KeyObject } from "node:crypto";

/**
 * AES-256-GCM for texts. A sealed text names its key: `enc:v1:KEY_ID:BASE64` of nonce, ciphertext and tag. It is
 * bound to its place (`place`, authenticated), so it opens nowhere else. Keys are KeyObjects: from raw bytes Node
 * would make one for each text, which takes longer than the encryption.
 */
const PREFIX = "enc:v1:";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

// One system call for many nonces.
const pool = Buffer.alloc(NONCE_BYTES * 512);
let used = pool.length;

function nonce(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += NONCE_BYTES;
  return pool.subarray(used - NONCE_BYTES, used);
}

export function seal(
  text: string,
  { keyId, key, place }: { keyId: string; key: KeyObject; place: string },
): string {
  const iv = nonce();
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(Buffer.from(place));
  const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${PREFIX}${keyId}:${sealed.toString("base64")}`;
}

/** The id of the key that sealed a text; null: the text is not sealed. */
export function keyIdOf(text: string): string | null {
  if (!text.startsWith(PREFIX)) return null;
  const end = text.indexOf(":", PREFIX.length);
  return end < 0 ? null : text.slice(PREFIX.length, end);
}

/** Throws if the text was changed, or sealed by another key or for another place. */
export function open(text: string, { key, place }: { key: KeyObject; place: string }): string {
  const sealed = Buffer.from(text.slice(text.indexOf(":", PREFIX.length) + 1), "base64");
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error("Cannot open a text: it is too short");
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const body = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES);
  return decipher.update(body, undefined, "utf8") + decipher.final("utf8");
}
