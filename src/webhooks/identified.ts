import type { BoundUser } from "../visitors/visitors.ts";
import type { Clock } from "../clock.ts";
import { newId } from "../domain/ids.ts";
import { endpointOf } from "../domain/threads/tellings.ts";
import { hears } from "../domain/channels/webhook.ts";
import type { WebhookField } from "../domain/channels/webhook.ts";
import type { SealedTelling } from "../store.ts";
import { bodyText } from "./body.ts";

/** A visitor became an account, or was merged into a known one. */
export function identifiedTellings(
  webhooks: readonly WebhookField[],
  { slug, userId, externalId, mergedUserId }: BoundUser,
  clock: Pick<Clock, "now">,
): SealedTelling[] {
  const type = "user.identified";
  const hearing = webhooks.filter((webhook) => hears(webhook, type));
  if (hearing.length === 0) return [];
  const atMs = clock.now();
  const id = `msg_${newId()}`;
  const merged = mergedUserId === null ? {} : { mergedUserId };
  const data = { channel: slug, userId, externalUserId: externalId, ...merged };
  const body = bodyText({ type, atMs, data });
  return hearing.map((webhook) => ({ id, body, atMs, endpoint: endpointOf(webhook) }));
}
