import { endpointOf } from "../../domain/threads/tellings.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import { MESSENGER_ENDPOINT } from "../../domain/channels/messenger.ts";
import type { WebhookField } from "../../domain/channels/webhook.ts";
import type { Store, ToldRef } from "../../store.ts";

/** How far the deliveries of a channel are behind. */
export interface QueueLevel {
  channel: string;
  waiting: number;
  /** Age of the oldest waiting event; 0: none waits. */
  oldestMs: number;
  /** Endpoints that were switched off. */
  off: number;
}

type Levelled = Pick<Store, "outbox"> & Pick<Store, "channels">;

/** For each channel that has webhooks, whichever instance delivers them. */
export function webhookLevels(store: Levelled, nowMs: number): Promise<QueueLevel[]> {
  return levelsOf(store, nowMs, ({ webhooks = [] }) => webhooks);
}

/** The same of what waits for the platforms of channels' messengers. */
export function messengerLevels(store: Levelled, nowMs: number): Promise<QueueLevel[]> {
  return levelsOf(store, nowMs, ({ messenger }) => (messenger === undefined ? [] : [MESSENGER_ENDPOINT]));
}

async function levelsOf(
  { outbox, channels }: Levelled,
  nowMs: number,
  receiversOf: (channel: Channel) => WebhookField[],
): Promise<QueueLevel[]> {
  if (!outbox) return [];
  const all = await channels(() => {});
  const told = all.map((channel) => ({ slug: channel.slug, receivers: receiversOf(channel) }));
  return Promise.all(
    told.filter(({ receivers }) => receivers.length > 0).map((one) => levelOf(outbox, one, nowMs)),
  );
}

async function levelOf(
  outbox: NonNullable<Store["outbox"]>,
  { slug, receivers }: { slug: string; receivers: WebhookField[] },
  nowMs: number,
): Promise<QueueLevel> {
  const levels = await Promise.all(receivers.map((one) => outbox.level(slug, endpointOf(one))));
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
