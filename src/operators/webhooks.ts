import type { ChannelVariables } from "../config/channel-variables.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { newId } from "../domain/ids.ts";
import { endpointOf } from "../domain/threads/tellings.ts";
import type { WebhookField } from "../domain/channels/webhook.ts";
import type { Delivery, Store } from "../store.ts";
import { bodyText } from "../webhooks/body.ts";
import type { Sender, Sent } from "../webhooks/send.ts";
import { NO_SECRET, secretsOf } from "../webhooks/sign.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

type Telling = Acting<Pick<Store, "outbox">>;

/** An endpoint as operators see it: never its secret. */
export interface WebhookView {
  url: string;
  /** null: all of them. */
  events: string[] | null;
  waiting: number;
  /** Since when nothing is sent to it, because it answered 410. */
  offSince: number | null;
  /** The latest first. */
  deliveries: DeliveryView[];
}

export interface DeliveryView extends Omit<Delivery, "atMs"> {
  at: number;
}

export async function listWebhooks(
  { outbox }: Pick<Store, "outbox">,
  { slug, webhooks = [] }: Channel,
): Promise<WebhookView[]> {
  return Promise.all(
    webhooks.map(async (webhook) => {
      const { url, events = null } = webhook;
      const known = await outbox?.endpoint(slug, endpointOf(webhook));
      const { waiting = 0, offSinceMs = null, deliveries = [] } = known ?? {};
      const tries = deliveries.map(({ atMs, ...delivery }) => ({ ...delivery, at: atMs }));
      return { url, events, waiting, offSince: offSinceMs, deliveries: tries };
    }),
  );
}

/** All of the channel, or the one with this url. */
export function chosenWebhooks({ webhooks = [] }: Channel, url: string | undefined): WebhookField[] {
  return url === undefined ? webhooks : webhooks.filter((webhook) => webhook.url === url);
}

export interface Tested extends Sent {
  url: string;
  delivered: boolean;
}

/** Sends each endpoint a `webhook.test` event; an endpoint that accepts it is on again. */
export async function testWebhooks(
  acting: Telling,
  { slug }: Channel,
  chosen: readonly WebhookField[],
  { sender, variables }: { sender: Sender; variables: Pick<ChannelVariables, "read"> },
): Promise<Tested[]> {
  await note(acting, { action: "webhooks.test", target: slug, slug });
  return Promise.all(
    chosen.map(async (webhook) => {
      const { url } = webhook;
      const nowMs = acting.clock.now();
      const secrets = secretsOf(webhook, (name) => variables.read(slug, name), nowMs);
      const id = `msg_${newId()}`;
      const body = bodyText({ type: "webhook.test", atMs: nowMs, data: { channel: slug } });
      const sent =
        secrets.length > 0
          ? await sender.send({ url, id, body, secrets })
          : { status: null, fault: NO_SECRET, elapsedMs: 0 };
      const delivered = sent.fault === null;
      if (delivered) await acting.store.outbox?.switchEndpoint(slug, endpointOf(webhook), null);
      return { url, ...sent, delivered };
    }),
  );
}

/** Sends again everything that failed or was given up; returns the number for each endpoint. */
export async function replayWebhooks(
  acting: Telling,
  { slug }: Channel,
  chosen: readonly WebhookField[],
): Promise<{ url: string; replayed: number }[]> {
  await note(acting, { action: "webhooks.replay", target: slug, slug });
  return Promise.all(
    chosen.map(async (webhook) => ({
      url: webhook.url,
      replayed: (await acting.store.outbox?.replay(slug, endpointOf(webhook))) ?? 0,
    })),
  );
}
