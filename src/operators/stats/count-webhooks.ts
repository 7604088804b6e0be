import { endpointOf } from "../../domain/threads/tellings.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import type { Store, ToldRef } from "../../store.ts";

/** How far all webhooks of a channel together are behind. */
export interface WebhookLevel {
  channel: string;
  waiting: number;
  /** Age of the oldest waiting event; 0: none waits. */
  oldestMs: number;
  /** Endpoints that were switched off. */
  off: number;
}

type Levelled = Pick<Store, "outbox"> & Pick<Store, "channels">;

/** For each channel that has webhooks, whichever instance delivers them. */
export async function webhookLevels(store: Levelled, nowMs: number): Promise<WebhookLevel[]> {
  const { outbox } = store;
  if (!outbox) return [];
  const channels = await store.channels(() => {});
  const telling = channels.filter(({ webhooks = [] }) => webhooks.length > 0);
  return Promise.all(telling.map((channel) => levelOf(outbox, channel, nowMs)));
}

async function levelOf(
  outbox: NonNullable<Store["outbox"]>,
  { slug, webhooks = [] }: Channel,
  nowMs: number,
): Promise<WebhookLevel> {
  const levels = await Promise.all(webhooks.map((webhook) => outbox.level(slug, endpointOf(webhook))));
  const times = await Promise.all(
    levels.flatMap(({ oldest }) => oldest).map((ref) => happenedAt(outbox, ref)),
  );
  const first = Math.min(nowMs, ...times.filter((atMs) => atMs !== null));
  return {
    channel: slug,
    waiting: levels.reduce((sum, { waiting }) => sum + waiting, 0),
    oldestMs: nowMs - first,
    off: levels.filter(({ isOff }) => isOff).length,
  };
}

/** null: the event is gone. */
async function happenedAt(outbox: NonNullable<Store["outbox"]>, ref: ToldRef): Promise<number | null> {
  const event = await outbox.event(ref);
  if (!event) return null;
  if (event.type === "sealed") {
    const { timestamp }: { timestamp: string } = JSON.parse(event.body);
    return Date.parse(timestamp);
  }
  const { atMs }: { atMs: number } = JSON.parse(event.text);
  return atMs;
}
