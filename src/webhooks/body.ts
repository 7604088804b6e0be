import type { Message } from "../domain/threads/message.ts";
import type { ToldEvent, WebhookEvent } from "../domain/channels/webhook.ts";
import type { SealedEvent, Store, ToldRef } from "../store.ts";

/** What a body needs besides the event itself. */
export interface BodyDependencies {
  store: Pick<Store, "channelThread" | "findUser" | "history">;
  /** A message as the history of the API shows it. */
  itemOf: (message: Message, addresses: readonly (string | null)[] | undefined) => unknown;
}

/** The body that is sent, in the format of Standard Webhooks. */
export function bodyText(event: { type: WebhookEvent | "webhook.test"; atMs: number; data: object }): string {
  const { type, atMs, data } = event;
  return JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data });
}

/**
 * A thread's event as it is sent: reads the thread's owner and the message's text now. Null: the thread has no owner
 * any more, or the message is gone, so there is nothing to send.
 */
export async function sealedEvent(
  { store, itemOf }: BodyDependencies,
  { slug, uid, nth }: ToldRef,
  { id, type, atMs, messageId, data }: ToldEvent,
): Promise<SealedEvent | null> {
  if (uid === null) return null;
  const thread = await store.channelThread(slug, uid);
  if (!thread) return null;
  const user = await store.findUser(slug, thread.userId);
  const message = messageId === undefined ? null : await messageOf(store, uid, messageId);
  if (messageId !== undefined && !message) return null;
  // The message's images are not sent: a receiver who wants them reads the history.
  const addresses = message?.attachments?.map(({ url }) => url ?? null);
  const body = bodyText({
    type,
    atMs,
    data: {
      channel: slug,
      threadId: thread.threadId,
      id: uid,
      userId: thread.userId,
      externalUserId: user?.externalId ?? null,
      sequence: Number(nth),
      ...data,
      ...(message ? { message: itemOf(message, addresses) } : {}),
    },
  });
  return { id, body };
}

async function messageOf(
  store: Pick<Store, "history">,
  uid: string,
  messageId: string,
): Promise<Message | null> {
  const [newest] = await store.history(uid, { limit: 1, before: null });
  if (newest?.id === messageId) return newest;
  const before = String(Number(messageId) + 1);
  const [found] = await store.history(uid, { limit: 1, before, all: true });
  return found?.id === messageId ? found : null;
}
