import type { Message } from "../domain/message.ts";
import type { ToldEvent, WebhookEvent } from "../domain/webhook.ts";
import type { SealedEvent, Store, ToldRef } from "../store.ts";

/** What a body is made of beside the event itself. */
export interface BodyDependencies {
  store: Pick<Store, "channelThread" | "findUser" | "history">;
  /** A message as the history of the API shows it. */
  itemOf: (message: Message, addresses: readonly (string | null)[] | undefined) => unknown;
}

/** What is sent, in the words of Standard Webhooks. */
export function bodyText(event: { type: WebhookEvent | "webhook.test"; atMs: number; data: object }): string {
  const { type, atMs, data } = event;
  return JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data });
}

/**
 * An event of a thread as it is sent: whose the thread is, and what the message says, is read now. Null: the thread is
 * nobody's any more, or the message is gone, and there is nothing to tell.
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
  // An image that came with the message is not sent along: who wants it reads the history.
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
  const [found] = await store.history(uid, { limit: 1, before });
  return found?.id === messageId ? found : null;
}
