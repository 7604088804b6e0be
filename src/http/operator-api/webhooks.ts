import { z } from "zod";
import type { Channel } from "../../domain/channels/channel.ts";
import type { WebhookField } from "../../domain/channels/webhook.ts";
import { Refusal } from "../../domain/refusal.ts";
import { chosenWebhooks, listWebhooks, replayWebhooks, testWebhooks } from "../../operators/webhooks.ts";
import { addressFor } from "../../operators/channel-secrets.ts";
import { createSender } from "../../webhooks/send.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import { documentedList, listFields, listOfAll } from "./lists.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import { sightOf } from "./channels.ts";
import type { OperatorApi } from "./operator-api.ts";

const deliverySchema = z.object({
  id: z.string().describe("The `webhook-id`"),
  event: z.string(),
  at: z.int().describe("Unix time in milliseconds"),
  attempt: z.int(),
  status: z.int().nullable().describe("What the receiver answered; null: nothing"),
  fault: z.string().nullable().describe("Why it counts as not taken; null: it was taken"),
  elapsedMs: z.int(),
});

const webhookSchema = z.object({
  url: z.string(),
  events: z.array(z.string()).nullable().describe("null: all of them"),
  waiting: z.int().describe("Events that were not taken yet, those that were given up included"),
  offSince: z.int().nullable().describe("Since when nothing is sent to it, because it answered 410"),
  deliveries: z.array(deliverySchema).describe("The latest hundred, latest first"),
});

const EXAMPLE: z.infer<typeof webhookSchema> = {
  url: "https://shop.example/chat-events",
  events: ["run.ended"],
  waiting: 0,
  offSince: null,
  deliveries: [
    {
      id: "msg_8Zk3x0T5RrOeS3o1m1yq6g",
      event: "run.ended",
      at: 1_800_000_000_000,
      attempt: 1,
      status: 204,
      fault: null,
      elapsedMs: 31,
    },
  ],
};

const choice = z.strictObject({
  url: z.string().optional().describe("Of one endpoint; all of them without it"),
});

const tested = z.object({
  items: z.array(
    z.object({
      url: z.string(),
      delivered: z.boolean(),
      status: z.int().nullable(),
      fault: z.string().nullable(),
      elapsedMs: z.int(),
    }),
  ),
});
const replayed = z.object({ items: z.array(z.object({ url: z.string(), replayed: z.int() })) });

/** GET /v1/operator/channels/:slug/webhooks; POST …/test, …/replay. */
export function webhooksEndpoints({
  store,
  clock,
  config,
  channelVariables,
}: Pick<OperatorApi, "store" | "clock" | "config" | "channelVariables">) {
  const body = { schema: choice, example: { url: EXAMPLE.url }, optional: true } as const;

  function chosen(channel: Channel, url: string | undefined): WebhookField[] {
    const found = chosenWebhooks(channel, url);
    if (found.length === 0) throw new Refusal("not-found", "Unknown webhook");
    return found;
  }

  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/webhooks",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      finds: "channel",
      summary: "List a channel's webhooks and their deliveries",
      description: "Never a secret, and no text of anybody.",
      query: listFields("webhooks"),
      answers: { 200: documentedList("The webhooks", webhookSchema, EXAMPLE) },
      handle: async ({ caller, channel, query }) =>
        listOfAll({ kind: "webhooks", ...query }, await listWebhooks(store, channel), {
          placeOf: ({ url }) => url,
          viewOf: (webhook) => ({ ...webhook, url: addressFor(sightOf(caller), webhook.url) }),
        }),
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/webhooks/test",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "channel",
      summary: "Send a test event",
      description: "Its type is `webhook.test`. An endpoint that takes it is on again.",
      body,
      answers: {
        200: documentedJson("What each answered", tested, {
          items: [{ url: EXAMPLE.url, delivered: true, status: 204, fault: null, elapsedMs: 31 }],
        }),
      },
      refusals: { "not-found": "Unknown channel, or it has no such webhook" },
      async handle({ acting, channel, body: { url } }) {
        const sender = createSender({ clock, allowsPrivate: config.webhooksPrivate });
        try {
          const parts = { sender, variables: channelVariables };
          return jsonAnswer(200, { items: await testWebhooks(acting, channel, chosen(channel, url), parts) });
        } finally {
          await sender.close();
        }
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/webhooks/replay",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "channel",
      summary: "Send again what failed",
      description:
        "Everything that waits for a further try, or was given up, is sent now, with its id and body.",
      body,
      answers: {
        200: documentedJson("How much is sent again", replayed, {
          items: [{ url: EXAMPLE.url, replayed: 12 }],
        }),
      },
      refusals: { "not-found": "Unknown channel, or it has no such webhook" },
      async handle({ acting, channel, body: { url } }) {
        return jsonAnswer(200, { items: await replayWebhooks(acting, channel, chosen(channel, url)) });
      },
    }),
  ];
}
