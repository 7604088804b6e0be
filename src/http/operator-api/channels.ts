import { z } from "zod";
import {
  handoffSchema,
  knowledgeSchema,
  retentionSchema,
  slugSchema,
  webhooksSchema,
} from "../../domain/channels/channel-fields.ts";
import { MESSENGER_TYPES } from "../../domain/channels/messenger.ts";
import { withoutPrototypes } from "../../domain/name-map.ts";
import { MAX_OVERLAP_HOURS } from "../../domain/channels/older-keys.ts";
import { seesChannel } from "../../domain/people/operator.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import { newChannelKeys } from "../../keys.ts";
import { channelFrom, rotateKeys, untilWritten, withOrigins } from "../../operators/channels.ts";
import {
  changedAgent,
  changedMessenger,
  changedWebhooks,
  channelView,
} from "../../operators/channel-secrets.ts";
import type { Sight } from "../../operators/channel-secrets.ts";
import { stopChannel } from "../../operators/stop-runs.ts";
import { NewerRecord, UnreadableRecord } from "../../store.ts";
import type { Store } from "../../store.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import { existingChannel } from "./admit.ts";
import { changeChannel, mustReachWhatIsAllowed, orInvalid, write } from "./change-channel.ts";
import type { ChangingChannels } from "./change-channel.ts";
import { documentedList, listFields, listOfAll } from "./lists.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";
import { documentedStop } from "./users.ts";

const channelSchema = z.object({
  slug: z.string(),
  kind: z.enum(["web", "transport"]),
  publishableKey: z.string().optional().describe("Web alone"),
  allowedOrigins: z.array(z.string()).optional().describe("Web alone"),
  enabled: z.boolean(),
  accessMode: z.enum(["open", "whitelist"]),
  agent: z.record(z.string(), z.unknown()).describe("Secrets of MCP servers stand as `[secret]`"),
  handoff: handoffSchema.optional().describe("Whether and how a person may take over"),
  webhooks: webhooksSchema.optional().describe("Who is told of what happens; secrets stand as `[secret]`"),
  messenger: z
    .object({ type: z.enum(MESSENGER_TYPES), settings: z.record(z.string(), z.string()) })
    .optional()
    .describe("The platform whose users talk here; secrets stand as `[secret]`"),
  retention: retentionSchema.optional().describe("After how many days what is deleted by itself"),
  knowledge: knowledgeSchema.optional().describe("The documents that the assistant answers from"),
});
const withSecret = channelSchema.extend({
  secretKey: z.string().optional().describe("sk_…, where it was made, this once"),
});

const EXAMPLE = {
  slug: "shop",
  kind: "web",
  publishableKey: "pk_shop",
  allowedOrigins: ["https://shop.example"],
  enabled: true,
  accessMode: "open",
  agent: { instructions: "You help visitors of a shop." },
};

/** The shape of a change; the fields themselves are checked as those of CHANNELS_FILE are. */
const changeFields = z.looseObject({
  webhooks: z.array(z.looseObject({ url: z.string() })).optional(),
  messenger: z
    .looseObject({ settings: z.record(z.string(), z.unknown()).optional() })
    .nullable()
    .optional(),
  agent: z
    .looseObject({
      mcpServers: z
        .record(
          z.string(),
          z
            .looseObject({
              headers: z.record(z.string(), z.unknown()).nullable().optional(),
              identity: z.record(z.string(), z.unknown()).nullable().optional(),
              oauth: z.record(z.string(), z.unknown()).nullable().optional(),
            })
            .nullable(),
        )
        .nullable()
        .optional(),
    })
    .optional(),
});
const patchSchema = withoutPrototypes(
  changeFields.extend({
    addOrigins: z.array(z.string()).optional().describe("Allowed as well, beside the others"),
    removeOrigins: z.array(z.string()).optional().describe("Of the allowed ones; the others stay"),
    stop: z
      .boolean()
      .optional()
      .describe(
        "With `enabled: false`: the channel's runs, pending calls and what waits behind them end, too",
      ),
  }),
);
const newSchema = withoutPrototypes(
  changeFields.extend({ slug: slugSchema, kind: z.enum(["web", "transport"]) }),
);

const rotationSchema = z.object({ overlapHours: z.number().min(0).max(MAX_OVERLAP_HOURS).optional() });

/**
 * GET, POST /v1/operator/channels; GET, PATCH …/:slug; POST …/:slug/rotate-keys, …/stop. Fields are named as in CHANNELS_FILE.
 */
export function channelsEndpoints(api: ChangingChannels & Pick<OperatorApi, "keepKeys" | "threads">) {
  const { store, directory, config, keepKeys, threads, channelVariables, clock } = api;
  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/channels",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      summary: "List the channels",
      description: "By slug; of who is limited to channels, theirs.",
      query: listFields("channels"),
      answers: { 200: documentedList("The channels", channelSchema, EXAMPLE) },
      async handle({ caller, query }) {
        const seen = (await store.channels(() => {})).filter(({ slug }) => seesChannel(caller, slug));
        return listOfAll({ kind: "channels", ...query }, seen, {
          placeOf: ({ slug }) => slug,
          viewOf: (channel) => channelView(channel, { sight: sightOf(caller) }),
        });
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      finds: "channel",
      summary: "Show a channel",
      description:
        "Never a secret key, and no value of an MCP server's header. Addresses without their queries, and no value of `agent.body`, for who is no admin.",
      answers: { 200: documentedJson("The channel", channelSchema, EXAMPLE) },
      handle: async ({ caller, channel }) =>
        jsonAnswer(200, channelView(channel, { sight: sightOf(caller) })),
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels",
      credential: "operatorKey",
      roles: ["admin"],
      scope: "installation",
      summary: "Make a channel",
      description:
        "A web channel gets the keys that are not given; the secret one is in the answer, this once.",
      body: {
        schema: newSchema,
        example: { slug: "shop", kind: "web", allowedOrigins: ["https://shop.example"] },
      },
      answers: { 201: documentedJson("The channel", withSecret, { ...EXAMPLE, secretKey: "sk_…" }) },
      refusals: { conflict: "There is one of that slug, or another one has or had that publishable key" },
      async handle({ acting, body }) {
        const { slug, kind } = body;
        if (await mayNotMake(store, slug)) throw new Refusal("conflict", "There is a channel of that slug");
        const made = newChannelKeys();
        const isNewSecret = kind === "web" && body["secretKey"] === undefined;
        const keys =
          kind === "web" ? { publishableKey: made.publishableKey, secretKey: made.secretKey.reveal() } : {};
        const channel = orInvalid(() => channelFrom(slug, null, { ...keys, ...body }, clock.now()));
        mustReachWhatIsAllowed(channel, null, { config, acting });
        if (!(await write(acting, channel, null, channelVariables))) {
          throw new Refusal("conflict", "There is a channel of that slug");
        }
        await directory.renew();
        api.knowledge?.changed(channel.slug);
        return jsonAnswer(201, channelView(channel, { secretKey: isNewSecret ? made.secretKey : null }));
      },
    }),

    endpoint({
      method: "PATCH",
      path: "/v1/operator/channels/:slug",
      credential: "operatorKey",
      roles: ["admin"],
      summary: "Change a channel",
      description:
        "What is left out stays. In `agent` and its `mcpServers` too, and null takes a setting or a server away; a server is replaced as a whole but for secrets that are left out or written as `[secret]`. Keys, token caps and addresses of MCP servers are changed only by admins without channel limits (403).",
      body: {
        schema: patchSchema,
        example: { agent: { instructions: "You help visitors of a shop." } },
        check: mustStopDisabled,
      },
      answers: { 200: documentedJson("The channel", channelSchema, EXAMPLE) },
      refusals: { conflict: "Another channel has or had that publishable key" },
      async handle({ caller, acting, params, body: { stop = false, ...change } }) {
        const { agent, webhooks, messenger, slug, addOrigins, removeOrigins, ...fields } = change;
        const channel = await changeChannel(api, { caller, acting, slug: params.slug }, (stored) => {
          if (slug !== undefined && slug !== stored.slug)
            throw new Refusal("invalid", "The body does not match the schema: slug");
          const agentFields = agent === undefined ? {} : { agent: changedAgent(stored.agent, agent) };
          const told =
            webhooks === undefined ? {} : { webhooks: changedWebhooks(stored.webhooks ?? [], webhooks) };
          const messaging =
            messenger === undefined
              ? {}
              : { messenger: messenger && changedMessenger(stored.messenger, messenger) };
          const written = { ...fields, ...agentFields, ...told, ...messaging };
          return withOrigins(written, stored, { add: addOrigins, remove: removeOrigins });
        });
        if (stop) await stopChannel(acting, threads, channel.slug);
        return jsonAnswer(200, channelView(channel));
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/rotate-keys",
      credential: "operatorKey",
      roles: ["admin"],
      summary: "Make both keys of a web channel anew",
      description:
        "They are in the answer, the secret one this once; the old ones end at once, or after `overlapHours`.",
      body: { schema: rotationSchema, example: { overlapHours: 24 }, optional: true },
      answers: {
        200: documentedJson("The channel, with its new keys", withSecret, { ...EXAMPLE, secretKey: "sk_…" }),
      },
      refusals: { conflict: "A transport channel has no keys" },
      async handle({ acting, params: { slug }, body: { overlapHours = 0 } }) {
        const { channel, keys } = await untilWritten(slug, async () => {
          const stored = await existingChannel(store, slug);
          if (stored.kind !== "web") throw new Refusal("conflict", "A transport channel has no keys");
          return rotateKeys(acting, stored, overlapHours);
        });
        keepKeys.channel(channel.slug, keys);
        await directory.renew();
        return jsonAnswer(200, channelView(channel, { secretKey: keys.secretKey }));
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/stop",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "channel",
      summary: "Stop a channel's runs",
      description: "The pending calls and what waits behind them, too; new messages begin runs.",
      answers: { 200: documentedStop },
      handle: async ({ acting, channel: { slug } }) =>
        jsonAnswer(200, { threads: await stopChannel(acting, threads, slug) }),
    }),
  ];
}

/** `stop` alone would end runs of a channel that may begin others. */
function mustStopDisabled({ stop = false, enabled }: z.infer<typeof patchSchema>): void {
  if (stop && enabled !== false) {
    throw new Refusal("invalid", "The body does not match the schema: stop goes with enabled");
  }
}

export function sightOf({ role }: Pick<Operator, "role">): Sight {
  return role === "admin" ? "whole" : "outline";
}

/** A damaged channel may be created again: its users, threads and tokens still exist. */
async function mayNotMake(store: Pick<Store, "channel">, slug: string): Promise<boolean> {
  try {
    return (await store.channel(slug)) !== null;
  } catch (error) {
    if (error instanceof UnreadableRecord && !(error instanceof NewerRecord)) return false;
    throw error;
  }
}
