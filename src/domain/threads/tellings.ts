import { hash } from "node:crypto";
import { hears } from "../channels/webhook.ts";
import type { Telling, ToldEvent, WebhookField } from "../channels/webhook.ts";

/** An endpoint's name in the store; another URL is another endpoint. */
export function endpointOf({ url }: Pick<WebhookField, "url">): string {
  return hash("sha256", url).slice(0, 16);
}

/** Each event with the endpoints that get it; events that no endpoint gets are left out. */
export function tellingsOf(webhooks: readonly WebhookField[], events: readonly ToldEvent[]): Telling[] {
  return events.flatMap((event) => {
    const endpoints = webhooks.filter((webhook) => hears(webhook, event.type)).map(endpointOf);
    return endpoints.length === 0 ? [] : [{ event, endpoints }];
  });
}
