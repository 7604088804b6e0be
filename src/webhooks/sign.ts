import { createHmac } from "node:crypto";
import { variableName } from "../domain/channel-variables.ts";
import { Secret } from "../secret.ts";

const PREFIX = "whsec_";

/** The fault of a delivery whose secret could not be read. */
export const NO_SECRET = "its secret's variable is unset, or not one that the channel may name";

/**
 * The headers of Standard Webhooks: `timestamp`, in seconds, is signed with the body, so that old requests can be
 * refused.
 */
export function signedHeaders(
  { id, body, atMs }: { id: string; body: string; atMs: number },
  secret: Secret,
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const key = Buffer.from(secret.reveal().slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

/** Null: its variable is unset, empty, or not the channel's to name. */
export function secretOf(
  { secret }: { secret: string },
  variable: (name: string) => Secret | null,
): Secret | null {
  const name = variableName(secret);
  const found = name === null ? new Secret(secret) : variable(name);
  return found && secretFault(found.reveal()) === null ? found : null;
}

/** Why a text cannot be a secret; null: it can. */
export function secretFault(text: string): string | null {
  return /^whsec_[A-Za-z0-9+/]{16,128}={0,2}$/.test(text) ? null : "must be whsec_ and base64";
}
