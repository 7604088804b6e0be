import { createHmac, createPrivateKey, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { Secret } from "../../secret.ts";

/** Who a tool is called for, as an MCP server is told. */
export interface Caller {
  /** Our id of the user. */
  userId: string;
  /** The id in the site's own system; null while anonymous. */
  externalId: string | null;
  channel: string;
  /** Our id of the thread. */
  thread: string;
  /** The site itself said who it is: by identify, or over the server API. */
  isVerified: boolean;
}

/** Long enough for a call to arrive; whoever sees it later can do nothing with it. */
const LIFETIME_SECONDS = 60;

/**
 * A JWT that says who asks: HS256, or EdDSA where the key is an Ed25519 private key in PEM. Without a caller it says only
 * that the channel asks: for listing tools, which is done for all of them.
 */
export function identityToken(
  key: Secret,
  { channel, caller, nowMs }: { channel: string; caller: Caller | null; nowMs: number },
): string {
  const text = key.reveal().replaceAll("\\n", "\n");
  const pem = text.includes("-----BEGIN") ? createPrivateKey(text) : null;
  const issuedAt = Math.floor(nowMs / 1_000);
  const claims = {
    iss: "chat-agent-service",
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
    channel,
    ...(caller === null ? {} : claimsOf(caller)),
  };
  const head = { alg: pem === null ? "HS256" : "EdDSA", typ: "JWT" };
  const signed = `${encoded(head)}.${encoded(claims)}`;
  return `${signed}.${signature(signed, pem, text)}`;
}

function claimsOf({ userId, externalId, thread, isVerified }: Caller) {
  return {
    sub: userId,
    ...(externalId === null ? {} : { ext: externalId }),
    thread,
    verified: isVerified,
  };
}

function signature(signed: string, pem: KeyObject | null, secret: string): string {
  if (pem === null) return createHmac("sha256", secret).update(signed).digest("base64url");
  return sign(null, Buffer.from(signed), pem).toString("base64url");
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
