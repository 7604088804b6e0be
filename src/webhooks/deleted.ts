import { hash } from "node:crypto";
import { endpointOf } from "../domain/threads/tellings.ts";
import { hears } from "../domain/channels/webhook.ts";
import type { WebhookField } from "../domain/channels/webhook.ts";
import type { Deletion, SealedTelling, Store } from "../store.ts";
import { bodyText } from "./body.ts";

/** A thread or a user is deleted: only ids. The same deletion always gives the same event. */
export async function deletedTellings(
  store: Pick<Store, "channelThread" | "findUser" | "outbox">,
  webhooks: readonly WebhookField[],
  deletion: Deletion,
): Promise<SealedTelling[]> {
  const { kind, slug, id: deleted, atMs } = deletion;
  const type = kind === "thread" ? "thread.deleted" : "user.deleted";
  const hearing = webhooks.filter((webhook) => hears(webhook, type));
  if (hearing.length === 0) return [];
  const ids = kind === "thread" ? await idsOfThread(store, deletion) : await idsOfUser(store, slug, deleted);
  const id = `msg_${hash("sha256", `${kind} ${slug} ${deleted} ${atMs}`).slice(0, 24)}`;
  const body = bodyText({ type, atMs, data: { channel: slug, ...ids } });
  return hearing.map((webhook) => ({ id, body, atMs, endpoint: endpointOf(webhook) }));
}

async function idsOfThread(
  store: Pick<Store, "channelThread" | "findUser" | "outbox">,
  { slug, id }: Deletion,
): Promise<object> {
  const [thread, told = 0] = await Promise.all([store.channelThread(slug, id), store.outbox?.told(id)]);
  const { threadId = null, userId = null } = thread ?? {};
  const user = userId === null ? null : await store.findUser(slug, userId);
  return { threadId, id, userId, externalUserId: user?.externalId ?? null, sequence: told + 1 };
}

async function idsOfUser(store: Pick<Store, "findUser">, slug: string, userId: string): Promise<object> {
  const user = await store.findUser(slug, userId);
  return { userId, externalUserId: user?.externalId ?? null };
}
