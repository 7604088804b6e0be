import { createHmac } from "node:crypto";
import { variableName } from "../domain/channels/channel-variables.ts";
import { secretsStillValid } from "../domain/channels/webhook.ts";
import type { WebhookField } from "../domain/channels/webhook.ts";
import { Secret } from "../secret.ts";

const PREFIX = "whsec_";

/** The fault of a delivery whose secret could not be read. */
export const NO_SECRET = "its secret's variable is unset, or not one that the channel may name";

/**
 * The headers of Standard Webhooks: `timestamp`, in seconds, is signed with the body, so that old requests can be
 * refused. With several secrets the signature is a list, separated by spaces: a receiver that knows one of them verifies it.
 */
export function signedHeaders(
  { id, body, atMs }: { id: string; body: string; atMs: number },
  secrets: readonly Secret[],
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

/**
 * The secrets that sign now, the present one first; of older ones those that can be read. Empty: the variable of the present
 * one is unset, empty, or not the channel's to name.
 */
export function secretsOf(
  webhook: Pick<WebhookField, "secret" | "olderSecrets">,
  variable: (name: string) => Secret | null,
  nowMs: number,
): Secret[] {
  const present = secretOf(webhook.secret, variable);
  if (present === null) return [];
  const older = secretsStillValid(webhook, nowMs).map(({ secret }) => secretOf(secret, variable));
  return [present, ...older.filter((secret) => secret !== null).toReversed()];
}

function secretOf(text: string, variable: (name: string) => Secret | null): Secret | null {
  const name = variableName(text);
  const found = name === null ? new Secret(text) : variable(name);
  return found && secretFault(found.reveal()) === null ? found : null;
}

/** Why a text cannot be a secret; null: it can. */
export function secretFault(text: string): string | null {
  return /^whsec_[A-Za-z0-9+/]{16,128}={0,2}$/.test(text) ? null : "must be whsec_ and base64";
}
